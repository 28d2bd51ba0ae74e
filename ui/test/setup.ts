import { configure } from '@testing-library/svelte';

// A busy machine takes its time: what is waited for comes, or it does not.
configure({ testIdAttribute: 'data-test', asyncUtilTimeout: 10_000 });
