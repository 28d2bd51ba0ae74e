// What can be done with a model, in the order in which it is offered. An action is a line here and a form of its own.
import type { Component } from 'svelte';
import type { ModelRecord, ModelView } from '../../host/gen';
import { s } from '../../strings/en';
import AdHoc from './actions/AdHoc.svelte';
import AllowPaid from './actions/AllowPaid.svelte';
import Clear from './actions/Clear.svelte';
import Options from './actions/Options.svelte';
import Probe from './actions/Probe.svelte';
import Rename from './actions/Rename.svelte';
import Restore from './actions/Restore.svelte';
import Retire from './actions/Retire.svelte';
import Role from './actions/Role.svelte';
import Unregister from './actions/Unregister.svelte';

/** What a form is given. `ondone` closes it; what it is told is said, and the sheet is read anew. */
export interface ActionForm {
  model: ModelView;
  ondone: (said: string) => void;
  oncancel: () => void;
}

export interface ModelAction {
  id: string;
  label: string;
  offered: (model: ModelView, record: ModelRecord | null) => boolean;
  form: Component<ActionForm>;
  danger?: boolean;
  /** The model is gone afterwards, and its sheet closes. */
  ends?: boolean;
}

const own = (model: ModelView) => !model.practice;

export const ACTIONS: readonly ModelAction[] = [
  { id: 'clear', label: s.models.action.clear, offered: (_, r) => r?.state === 'resting', form: Clear },
  {
    id: 'allow-paid',
    label: s.models.action.allowPaid,
    offered: (m) => m.went_paid === true,
    form: AllowPaid,
  },
  { id: 'rename', label: s.models.action.rename, offered: own, form: Rename },
  { id: 'role', label: s.models.action.role, offered: own, form: Role },
  { id: 'ad-hoc', label: s.models.action.adHoc, offered: own, form: AdHoc },
  { id: 'options', label: s.models.action.options, offered: own, form: Options },
  {
    id: 'probe',
    label: s.models.action.probe,
    offered: (m) => own(m) && m.retired === null,
    form: Probe,
  },
  {
    id: 'restore',
    label: s.models.action.restore,
    offered: (m) => own(m) && m.retired !== null,
    form: Restore,
  },
  {
    id: 'retire',
    label: s.models.action.retire,
    offered: (m) => own(m) && m.retired === null,
    form: Retire,
    danger: true,
  },
  {
    id: 'unregister',
    label: s.models.action.unregister,
    offered: () => true,
    form: Unregister,
    danger: true,
    ends: true,
  },
];
