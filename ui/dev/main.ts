import '../src/app.css';
import { mount } from 'svelte';
import App from '../src/App.svelte';
import { Fixture } from './fixture';
import type { FixtureOptions } from './made';

// `?first&found&keys=none&past=5&sessions=2&texts&busy&many=300&programs&queue&delay=300`: the state to begin with. `window.fixture` plays the rest.
const q = new URLSearchParams(location.search);
const options: FixtureOptions = {
  first: q.has('first'),
  found: q.has('found'),
  delay: Number(q.get('delay') ?? 80),
  past: Number(q.get('past') ?? 0),
  sessions: Number(q.get('sessions') ?? 0),
  texts: q.has('texts'),
  busy: q.has('busy'),
  many: Number(q.get('many') ?? 0),
  programs: q.has('programs'),
};
const keys = q.get('keys');
if (keys) options.keys = keys as NonNullable<FixtureOptions['keys']>;
const fixture = new Fixture(options);
Object.assign(window, { fixture });
if (q.has('queue')) {
  const models = ['alpha-large', 'beta-broken', 'gamma-mini'].map((alias) => ({
    served: `lab/${alias}`,
    alias,
  }));
  fixture.taking.handlers.onboard({ endpoint: 'groq', models, mode: 'quick' });
}

const target = document.getElementById('app');
if (target) mount(App, { target, props: { host: fixture } });
