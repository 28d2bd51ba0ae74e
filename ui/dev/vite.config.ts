import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// `npm run dev`: the window, played by the scripted gateway in this folder.
export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  base: './',
  plugins: [svelte({ configFile: '../svelte.config.js' })],
  build: {
    outDir: '../node_modules/.dev',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
