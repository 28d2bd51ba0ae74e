import type { BaseUrls } from '../../host/gen';

/** A text to be put somewhere: a file, or a shell. */
export interface Snippet {
  /** The file's path; empty is a shell. */
  file: string;
  text: string;
}

export interface Agent {
  id: 'claude' | 'codex' | 'opencode' | 'gemini';
  name: string;
  /** The base URL it is given. */
  url: string;
  snippets: Snippet[];
}

/** What each agent is set up with, so that it asks `model` of the gateway; `key` is anything where none is required. */
export function agents(urls: BaseUrls, model: string, key: string): Agent[] {
  const opencode = {
    $schema: 'https://opencode.ai/config.json',
    model: `bench/${model}`,
    provider: {
      bench: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Benchwarmers',
        options: { baseURL: urls.openai, apiKey: key },
        models: { [model]: {} },
      },
    },
  };
  return [
    {
      id: 'claude',
      name: 'Claude Code',
      url: urls.anthropic,
      snippets: [
        shell(
          `export ANTHROPIC_BASE_URL=${urls.anthropic}`,
          `export ANTHROPIC_AUTH_TOKEN=${key}`,
          `export ANTHROPIC_MODEL=${model}`,
          `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}`,
          'claude',
        ),
      ],
    },
    {
      id: 'codex',
      name: 'Codex',
      url: urls.openai,
      snippets: [
        {
          file: '~/.codex/config.toml',
          text: [
            `model = "${model}"`,
            'model_provider = "bench"',
            '',
            '[model_providers.bench]',
            'name = "Benchwarmers"',
            `base_url = "${urls.openai}"`,
            'env_key = "BENCH_KEY"',
            'wire_api = "responses"',
          ].join('\n'),
        },
        shell(`export BENCH_KEY=${key}`, 'codex'),
      ],
    },
    {
      id: 'opencode',
      name: 'opencode',
      url: urls.openai,
      snippets: [{ file: '~/.config/opencode/opencode.json', text: JSON.stringify(opencode, null, 2) }],
    },
    {
      id: 'gemini',
      name: 'Gemini CLI',
      url: urls.gemini,
      snippets: [
        shell(
          `export GOOGLE_GEMINI_BASE_URL=${urls.gemini}`,
          `export GEMINI_API_KEY=${key}`,
          `gemini -m ${model}`,
        ),
        {
          file: '~/.gemini/settings.json',
          text: JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }, null, 2),
        },
      ],
    },
  ];
}

function shell(...lines: string[]): Snippet {
  return { file: '', text: lines.join('\n') };
}
