import { describe, expect, test } from 'vitest';
import { render, StreamedMarkdown } from '../src/text/markdown';

function dom(markdown: string): HTMLElement {
  const root = document.createElement('div');
  root.innerHTML = render(markdown);
  return root;
}

/** Nothing here may leave anything that runs, loads or leads away by itself. */
const HOSTILE: Record<string, string> = {
  script: '<script>alert(1)</script>',
  'script in a list': '- a\n  <script>alert(1)</script>',
  'image with a handler': '<img src=x onerror=alert(1)>',
  svg: '<svg/onload=alert(1)>',
  iframe: '<iframe src="https://evil.example"></iframe>',
  'raw style': '<style>body{display:none}</style>',
  'style attribute': '<p style="position:fixed">x</p>',
  form: '<form action="https://evil.example"><input name=q></form>',
  'javascript link': '[x](javascript:alert(1))',
  'javascript link, spelt oddly': '[x](JaVaScRiPt:alert(1))',
  'javascript link, with entities': '[x](&#106;avascript:alert(1))',
  'javascript link, with a tab': '[x](java&Tab;script:alert(1))',
  'javascript in a definition': '[x][y]\n\n[y]: javascript:alert(1)',
  'javascript autolink': '<javascript:alert(1)>',
  'data link': '[x](data:text/html;base64,PHNjcmlwdD4=)',
  'data image link': '[x](data:image/svg+xml;base64,PHN2Zz4=)',
  'vbscript link': '[x](vbscript:msgbox(1))',
  'file link': '[x](file:///etc/passwd)',
  'remote image': '![p](https://tracker.example/p.png)',
  'remote image without a scheme': '![p](//tracker.example/p.png)',
  'data image': '![p](data:image/png;base64,iVBORw0KGgo=)',
  'data svg image': '![p](data:image/svg+xml,<svg onload=alert(1)>)',
  'remote image in a link': '[![p](https://a.example/p.png)](https://b.example)',
  'attribute break-out': '[x](https://a.example/"onmouseover="alert(1))',
  'title break-out': '[x](https://a.example "a\\" onclick=\\"alert(1)")',
  'fence info': '```"><img src=x onerror=alert(1)>\ncode\n```',
  'mutation by nesting': '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  'template markers': '{{constructor.constructor("alert(1)")()}}',
};

describe('hostile markdown', () => {
  test.each(Object.entries(HOSTILE))('%s', (_, markdown) => {
    const root = dom(markdown);
    const allowed = new Set(
      'P BR HR H1 H2 H3 H4 H5 H6 STRONG EM S A SPAN CODE PRE BLOCKQUOTE UL OL LI TABLE THEAD TBODY TR TH TD'.split(
        ' ',
      ),
    );
    for (const element of root.querySelectorAll('*')) {
      expect(allowed.has(element.tagName), element.outerHTML).toBe(true);
      for (const { name, value } of element.attributes) {
        expect(['class', 'start', 'align', 'role', 'tabindex', 'data-href']).toContain(name);
        if (name === 'data-href') expect(value).toMatch(/^(https?:\/\/|mailto:)/);
        if (name === 'class') expect(value).toMatch(/^language-/);
      }
    }
  });
});

describe('what is shown', () => {
  test('a link keeps its words and its address, and has no href', () => {
    const a = dom('[the RFC](https://www.rfc-editor.org/rfc/rfc5861)').querySelector('a');
    expect(a?.textContent).toBe('the RFC');
    expect(a?.dataset['href']).toBe('https://www.rfc-editor.org/rfc/rfc5861');
    expect(a?.hasAttribute('href')).toBe(false);
    expect([a?.getAttribute('role'), a?.tabIndex]).toEqual(['link', 0]);
  });

  test('a bare address becomes a link; a bare name does not', () => {
    expect(dom('see https://a.example/x and b.example').querySelectorAll('a')).toHaveLength(1);
  });

  test('a remote image is a link with its description', () => {
    const root = dom('![the graph](https://a.example/p.png)');
    expect(root.querySelector('a')?.textContent).toBe('[the graph]');
    expect(root.querySelector('a')?.dataset['href']).toBe('https://a.example/p.png');
  });

  test('a data image is its description, not its kilobytes', () => {
    expect(dom('![chart](data:image/png;base64,iVBORw0KGgo=)').textContent?.trim()).toBe('[chart]');
  });

  test('raw html is text', () => {
    expect(dom('a <b>bold</b> claim').textContent?.trim()).toBe('a <b>bold</b> claim');
  });

  test('tables are aligned without a style attribute', () => {
    const root = dom('| a | b |\n| --- | ---: |\n| 1 | 2 |');
    expect([...root.querySelectorAll('td')].map((td) => td.getAttribute('align'))).toEqual([null, 'right']);
  });

  test('an ordered list keeps its first number', () => {
    expect(dom('3. c\n4. d').querySelector('ol')?.getAttribute('start')).toBe('3');
  });
});

describe('streaming', () => {
  const TEXTS = [
    'One.\n\nTwo\n\n- a\n- b\n\n  still b\n- c\n\nThree',
    '# Head\ntext right below\n\n```js\nconst a = 1;\n\n\nconst b = 2;\n```\nafter',
    'para\n#\n#not a heading\n\nnext',
    'Title\n=====\n\n> quote\nlazy\n\n> another\n\n1. x\n\n   deep\n2. y\n',
    '| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n\n---\n\n***\nend\r\n\r\nwith carriage returns\r\n',
    '\n\n\n  indented start\n\n    code\n\n\n    more code\n\ntext 😀 and ünï\n',
    'unclosed **bold\n\n```\nunclosed fence\n\nwith blank lines',
  ];

  test.each(TEXTS)('each prefix of %j shows what it would show by itself', (text) => {
    const streamed = new StreamedMarkdown();
    for (let n = 0; n <= text.length; n++) {
      const prefix = text.slice(0, n);
      expect(streamed.update(prefix, false).join('')).toBe(render(prefix.replace(/\r\n?/g, '\n')));
    }
  });

  test('the blocks before the last stay the very same strings', () => {
    const streamed = new StreamedMarkdown();
    streamed.update('One.\n\nTwo.\n\nThr', false);
    const blocks = streamed.update('One.\n\nTwo.\n\nThree.', false);
    expect(blocks).toEqual(['<p>One.</p>\n', '<p>Two.</p>\n', '<p>Three.</p>\n']);
  });

  test('a definition at the end reaches the paragraphs before it once the answer is over', () => {
    const text = 'See [the RFC].\n\nMore.\n\n[the RFC]: https://a.example/rfc\n';
    const streamed = new StreamedMarkdown();
    for (let n = 0; n <= text.length; n++) streamed.update(text.slice(0, n), false);
    expect(streamed.update(text, true)[0]).toContain('data-href="https://a.example/rfc"');
  });

  test('a text that is replaced starts anew', () => {
    const streamed = new StreamedMarkdown();
    streamed.update('One.\n\nTwo.\n\nThree.\n\n', false);
    expect(streamed.update('Other.', false)).toEqual(['<p>Other.</p>\n']);
  });
});
