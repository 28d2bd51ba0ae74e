import { configure } from '@testing-library/svelte';

configure({ testIdAttribute: 'data-test' });
