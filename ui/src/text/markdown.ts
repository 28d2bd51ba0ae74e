import DOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';

/** Models' text is untrusted: it may carry anything that a web page or a file told the model to write. */
const md = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

const SAFE_LINK = /^(https?:\/\/|mailto:)/i;
const DATA_IMAGE = /^data:image\//i;

// An address that is neither a web page nor a letter stays what it is: text. A data URL is let through so
// that its kilobytes do not end up as text; the image rule leaves it out.
md.validateLink = (url) => SAFE_LINK.test(url.trim()) || DATA_IMAGE.test(url.trim());

// A link has no `href`: nothing can follow it but our own handler, which first shows where it goes.
md.renderer.rules.link_open = (tokens, i) => linkOpen(String(tokens[i]?.attrGet('href') ?? ''));
md.renderer.rules.link_close = () => '</a>';

// No image is fetched: a picture's address can tell its owner that, and what, somebody reads.
md.renderer.rules.image = (tokens, i) => {
  const token = tokens[i];
  const src = String(token?.attrGet('src') ?? '');
  const label = md.utils.escapeHtml(token?.content.trim() || 'image');
  return SAFE_LINK.test(src) ? `${linkOpen(src)}[${label}]</a>` : `<span>[${label}]</span>`;
};

// Alignment comes as a style attribute, which the content security policy refuses.
for (const rule of ['th_open', 'td_open'] as const) {
  md.renderer.rules[rule] = (tokens, i) => {
    const token = tokens[i];
    const align = /text-align:(left|center|right)/.exec(String(token?.attrGet('style') ?? ''))?.[1];
    return align ? `<${token?.tag} align="${align}">` : `<${token?.tag}>`;
  };
}

function linkOpen(href: string): string {
  if (!SAFE_LINK.test(href)) return '<a>';
  return `<a role="link" tabindex="0" data-href="${md.utils.escapeHtml(href)}">`;
}

const PURIFY = {
  ALLOWED_TAGS: (
    'p br hr h1 h2 h3 h4 h5 h6 strong em s a span code pre blockquote ul ol li ' +
    'table thead tbody tr th td'
  ).split(' '),
  ALLOWED_ATTR: ['class', 'start', 'align', 'role', 'tabindex', 'data-href'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** A whole text as safe HTML. */
export function render(text: string): string {
  return cut(text)
    .map((b) => b.html)
    .join('');
}

/**
 * The answer of one seat as a list of HTML blocks. While it grows, the blocks that can no longer change are
 * kept and only the tail is read again: a long answer costs no more a frame than a short one.
 */
export class StreamedMarkdown {
  /** Text whose blocks are closed for good; ends at a line's start. */
  private closed = '';
  private blocks: string[] = [];
  /** Where the last look for closed blocks ended. */
  private looked = 0;

  update(raw: string, over: boolean): readonly string[] {
    const text = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw;
    // The end is read whole: a link's definition at the bottom may belong to a paragraph at the top.
    if (over) return cut(text).map((b) => b.html);
    if (!text.startsWith(this.closed)) {
      this.closed = '';
      this.blocks = [];
      this.looked = 0;
    }
    this.close(text, text.lastIndexOf('\n') + 1);
    return [...this.blocks, ...cut(text.slice(this.closed.length)).map((b) => b.html)];
  }

  /** Of whole lines, all top-level blocks but the last are closed: a later line cannot reach back over one. */
  private close(text: string, end: number): void {
    if (end <= this.looked) return;
    this.looked = end;
    for (const block of cut(text.slice(this.closed.length, end)).slice(0, -1)) {
      this.blocks.push(block.html);
      this.closed += block.source;
    }
  }
}

interface Block {
  /** With the blank lines after it; the sources together are the text. */
  source: string;
  html: string;
}

/** The top-level blocks of a text with `\n` line ends. */
function cut(text: string): Block[] {
  const env = {};
  const tokens = md.parse(text, env);
  const heads = tokens.flatMap((t, i) => (t.level === 0 && t.nesting >= 0 && t.map ? [i] : []));
  const lines = text.split('\n');
  return heads.map((head, n) => {
    const next = heads[n + 1];
    const from = n === 0 ? 0 : (tokens[head]?.map?.[0] ?? 0);
    const to = next === undefined ? lines.length : (tokens[next]?.map?.[0] ?? lines.length);
    const html = md.renderer.render(tokens.slice(head, next), md.options, env);
    const source = lines.slice(from, to).join('\n') + (next === undefined ? '' : '\n');
    return { source, html: DOMPurify.sanitize(html, PURIFY) };
  });
}
