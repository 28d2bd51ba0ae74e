// The strip of alerts, and what each kind lets a person do.

export const alert = {
  label: 'Alerts',
  toKey: 'Check the key',
  toPanel: 'See the panel',
  toSettings: 'Open the settings',
  toModel: 'See the model',
  toCollection: 'See the collection',
  toSpend: 'See what was spent',
};
