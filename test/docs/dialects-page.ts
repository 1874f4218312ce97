/** `docs/dialects.md`, from the collectors' own data and from what is read out of the recordings. */
import { fileURLToPath } from 'node:url';
import type { Collector } from '../../collectors/collector.ts';
import { collectors } from '../../collectors/index.ts';
import type { Provenance, Run } from '../../src/model/agent-trace.ts';
import { isClaimed } from '../recordings/claimed.ts';
import { play, recordingsIn } from '../recordings/read.ts';

const recordings = fileURLToPath(new URL('../fixtures/recordings', import.meta.url));

export function dialectsPage(): string {
  return `${[opening, table(), ...collectors.map(section), matrix()].join('\n\n')}\n`;
}

const opening = `# Dialects

<!-- Written by npm run docs from the collectors' own data and the recordings. -->

A dialect is the form in which an SDK tells a run in spans. Each has a collector that says how its spans are recognised, which attributes
it reads, and what to switch on so that content is there. Recognition goes span by span: one trace may mix dialects, one span may speak
two, and every collector that recognises a span reads it, in the order of this table.

\`tracejury inspect FILE\` shows which collectors read recorded spans, what they found in them, and what is missing.`;

function table(): string {
  return ['| collector | reads |', '|---|---|', ...collectors.map(({ id, summary }) => `| [${id}](#${id}) | ${cell(summary)} |`)].join('\n');
}

function section({ id, summary, recognisedBy: by, wants, logs, captureHints }: Collector): string {
  const signs = [
    ...signText('scope', by.scopes),
    ...signText('a scope that begins with', by.scopePrefixes),
    ...signText('the attribute', by.keys),
    ...signText('an attribute that begins with', by.keyPrefixes),
  ];
  const unless = by.notKeys === undefined ? '' : `, unless it has ${listed(by.notKeys)}`;
  return [
    `## ${id}`,
    summary,
    `Recognised by ${signs.join(', or ')}${unless}.`,
    ...(captureHints === undefined ? [] : [[`- Content: ${captureHints.content}`, ...(captureHints.tools === undefined ? [] : [`- Tool definitions: ${captureHints.tools}`])].join('\n')]),
    ...(logs === undefined ? [] : [`Also reads log records with the event names ${listed(logs.events)}.`]),
    `Attributes read: ${listed([...wants.keys, ...wants.prefixes.map((prefix) => `${prefix}*`)])}.`,
  ].join('\n\n');
}

function signText(what: string, names: readonly string[] | undefined): readonly string[] {
  return names === undefined || names.length === 0 ? [] : [`${what} ${listed(names)}`];
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

interface Field {
  readonly title: string;
  /** Where the field of a run comes from; empty: it is not there. */
  readonly from: (run: Run) => readonly string[];
}

const provenanceWords: { readonly [provenance in Provenance]: string } = { tool_span: 'span', span_event: 'event', log_record: 'log', model_message: 'message', agent_span: 'span', given: 'given' };

const fields: readonly Field[] = [
  { title: 'agent', from: ({ trace }) => present(trace.agent) },
  { title: 'session', from: ({ trace }) => present(trace.sessionId) },
  { title: 'input', from: ({ trace }) => present(trace.input) },
  { title: 'answer', from: ({ trace }) => present(trace.finalResponse) },
  { title: 'model', from: ({ trace }) => present(trace.model) },
  { title: 'tokens', from: ({ trace }) => present(trace.tokens) },
  { title: 'tool calls', from: ofCalls('name') },
  { title: 'call ids', from: ofCalls('id') },
  { title: 'arguments', from: ofCalls('arguments') },
  { title: 'results', from: ofCalls('result') },
  { title: 'tool schemas', from: ({ trace }) => present(trace.toolDefinitions.find(({ inputSchema }) => inputSchema !== undefined)) },
];

function present(value: unknown): readonly string[] {
  return value === undefined ? [] : ['yes'];
}

function ofCalls(field: 'name' | 'id' | 'arguments' | 'result'): Field['from'] {
  return ({ trace }) => trace.toolCalls.flatMap(({ provenance }) => (provenance?.[field] === undefined ? [] : [provenanceWords[provenance[field]]]));
}

function matrix(): string {
  const claimed = recordingsIn(recordings).filter(({ expected }) => isClaimed(expected));
  const groups = [...Map.groupBy(claimed, ({ name }) => name.split('/')[0] ?? name)];
  const rows = groups.map(([folder, members]) => {
    const runs = members.flatMap((recording) => play(recording).runs);
    const cells = fields.map(({ from }) => [...new Set(runs.flatMap((run) => from(run)))].sort().join(', ') || '–');
    return `| ${folder} | ${members.length} | ${cells.join(' | ')} |`;
  });
  return [
    `## What recordings of real SDKs carry

Each row is one instrumentation in one configuration, named as its folder in \`test/fixtures/recordings\`, and the number of its recordings; all are
read as the agent really ran. Of tool calls the table says where a field comes from: the tool's own span or an event on it, the model's messages,
or log records. – means that the spans do not carry it, so that evaluators which need it are skipped.`,
    [`| recordings | | ${fields.map(({ title }) => title).join(' | ')} |`, `|---|---|${fields.map(() => '---|').join('')}`, ...rows].join('\n'),
  ].join('\n\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
