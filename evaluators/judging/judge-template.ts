/**
 * A question as its author writes it: a text with `{{names}}` of what the judge is to be shown. Each name becomes a reference to a block;
 * what stands in the block is never looked at here, so that no text of a run can be taken for a name.
 */

export interface TemplateFault {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

export interface ReadTemplate {
  /** The text, each name replaced by a reference to the block of that name. */
  readonly instruction: string;
  /** Each once, in the order in which they first stand there. */
  readonly names: readonly string[];
  readonly faults: readonly TemplateFault[];
}

/** Characters of a name and the blanks around it. */
const nameMax = 60;

/** One walk from the beginning to the end; `}}` without an opening is ordinary text, as in JSON. */
export function readTemplate(template: string, known: readonly string[]): ReadTemplate {
  const names: string[] = [];
  const faults: TemplateFault[] = [];
  let instruction = '';
  let at = 0;
  for (let open = template.indexOf('{{'); open !== -1; open = template.indexOf('{{', at)) {
    instruction += template.slice(at, open);
    const close = template.slice(open, open + nameMax).indexOf('}}');
    if (close === -1) {
      faults.push({ ...placeOf(template, open), problem: 'opens {{ and never closes it with }}' });
      return { instruction: instruction + template.slice(open), names, faults };
    }
    const name = template.slice(open + 2, open + close).trim();
    at = open + close + 2;
    if (!known.includes(name))
      faults.push({ ...placeOf(template, open), problem: `names {{${name}}}, which is not known; known are ${known.join(', ')}` });
    else if (!names.includes(name)) names.push(name);
    instruction += `(block "${name}")`;
  }
  return { instruction: instruction + template.slice(at), names, faults };
}

function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}
