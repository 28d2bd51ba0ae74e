import type { Api } from '../../host/gen';

/** What a base URL of each API looks like. The most usual API first. */
export const BASE_OF: Record<Api, string> = {
  chat: 'https://api.example.com/v1',
  responses: 'https://api.example.com/v1',
  anthropic: 'https://api.example.com/v1',
  gemini: 'https://api.example.com/v1beta',
  ollama: 'http://127.0.0.1:11434',
};

export const APIS = Object.keys(BASE_OF) as Api[];
