/** A process model as a Mermaid flowchart: tools with their calls, and steps with how often they are taken. */
import type { ProcessModel } from '../model/process-model.ts';

/** Mermaid refuses charts with 500 arrows, and people cannot read them long before. */
const stepsMax = 60;
const namesMax = 60;

/** The most frequent steps, with their share among the steps from the same tool. */
export function processChart(model: ProcessModel): string {
  const left = new Map<string | null, number>();
  for (const { from, times } of model.transitions) left.set(from, (left.get(from) ?? 0) + times);
  const taken = model.transitions.filter(({ times }) => times > 0).toSorted((one, other) => other.times - one.times);
  const shown = taken.slice(0, stepsMax);
  const ids = new Map<string, string>();
  for (const { from, to } of shown) for (const name of [from, to]) if (name !== null && !ids.has(name)) ids.set(name, `t${ids.size + 1}`);
  const calls = new Map(model.tools.map((tool) => [tool.name, tool.calls]));
  return [
    'flowchart TD',
    `  start(["start: ${model.runs} runs"])`,
    ...[...ids].map(([name, id]) => `  ${id}["${escaped(name)}: ${calls.get(name) ?? 0} calls"]`),
    '  finish(["end"])',
    ...shown.map(
      ({ from, to, times }) =>
        `  ${from === null ? 'start' : ids.get(from)} -->|"${times}, ${percent(times / (left.get(from) ?? times))}"| ${to === null ? 'finish' : ids.get(to)}`,
    ),
    ...(taken.length > shown.length ? [`  %% ${taken.length - shown.length} rarer steps are left out`] : []),
    '',
  ].join('\n');
}

function percent(share: number): string {
  const rounded = Math.round(share * 1_000) / 10;
  return rounded === 0 ? '<0.1 %' : `${rounded} %`;
}

/** Mermaid writes special characters as entities by their number. */
function escaped(name: string): string {
  const text = name.trim() === '' ? '(no name)' : name.length > namesMax ? `${name.slice(0, namesMax - 1)}…` : name;
  return text.replaceAll(/[^\p{L}\p{N} _.…/:()-]/gu, (letter) => `#${letter.codePointAt(0) ?? 0};`);
}
