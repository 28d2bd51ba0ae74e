import './app.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { pickHost } from './host/pick';

const target = document.getElementById('app');
if (target) mount(App, { target, props: { host: await pickHost() } });
