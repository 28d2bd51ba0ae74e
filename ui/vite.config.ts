import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The same files are embedded by the app and served by `bench serve --ui`: every address is relative, and
// nothing is inlined, so that a content security policy without 'unsafe-inline' holds.
export default defineConfig({
  base: './',
  plugins: [svelte()],
  build: {
    outDir: 'dist',
    target: ['es2022', 'chrome111', 'safari16.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
});
