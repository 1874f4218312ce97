/** Writes the report of `inspect` as text. */
import type { Need } from '../../../evaluators/evaluator.ts';
import {
  agentShares,
  type AgentShares,
  type Evaluability,
  type InspectedRun,
  type LeftOut,
  type Replayed,
  type Report,
} from './inspection.ts';
import type { Recorded } from './recording.ts';
import { oneLine } from '../../model/one-line.ts';
import { columns, wrapped } from '../../report/text.ts';
import type { Completeness, Run, SubAgent, ToolCall, ToolDefinition } from '../../model/agent-trace.ts';
import { runConfidence, type RunEvidence } from '../../model/evidence.ts';
import { unreachable } from '../../model/ids.ts';
import { isJsonObject, type JsonValue, member, plainText } from '../../model/json.ts';
import type { Share } from '../../pipeline/reporting/evaluability.ts';
import { lackTexts, placesOf } from '../../pipeline/reporting/missing-data.ts';

/** Runs in full; the report counts the others. */
const runsMax = 200;
const rejectionsMax = 10;
const scopeMax = 100;

export function reportText({ recorded, replayed, runs }: Report): string {
  const left = runs.length - runsMax;
  const agents = agentShares(runs);
  return [
    ...headLines(recorded, replayed, runs),
    // The run of an agent with one run has the same content.
    ...(agents.some((one) => one.runs > 1) ? ['', ...sharesLines(agents)] : []),
    ...runs.slice(0, runsMax).flatMap((run) => ['', ...runLines(run)]),
    ...(left > 0 ? ['', `${left} more runs are not shown; --format json has all.`] : []),
  ].join('\n');
}

function headLines(
  { spans, records, recordsWithoutTrace, rejections }: Recorded,
  { spansByDialect, unrecognised, leftOut }: Replayed,
  runs: readonly InspectedRun[],
): readonly string[] {
  const traces = new Set(spans.map(({ traceId }) => traceId)).size;
  const total = countOf(runs);
  return [
    `${many(total, 'agent run')} in ${many(spans.length, 'span')} of ${many(traces, 'trace')}, ${many(records.length, 'log record')}.`,
    ...columns([...spansByDialect].map(([id, count]) => [id, many(count, 'span')] as const)),
    ...(unrecognised.spans === 0
      ? []
      : [
          `No collector recognises ${many(unrecognised.spans, 'span')}; ${unrecognised.spans === 1 ? 'it counts only as a place' : 'they count only as places'} in the trace. Scopes:`,
          ...columns(
            unrecognised.scopes.map(({ scope, spans: count }) => [oneLine(scope, scopeMax) || '(no name)', many(count, 'span')] as const),
          ),
        ]),
    ...(recordsWithoutTrace === 0
      ? []
      : [`${many(recordsWithoutTrace, 'log record')} without a trace id ${recordsWithoutTrace === 1 ? 'was' : 'were'} left out.`]),
    ...leftOut.map(leftOutLine),
    ...rejections
      .slice(0, rejectionsMax)
      .map(({ where, reason, count, example }) => `${where}: ${count} rejected (${reason}): ${oneLine(example, scopeMax)}`),
    ...(rejections.length > rejectionsMax ? [`… and ${rejections.length - rejectionsMax} more kinds of rejection.`] : []),
    ...(total > 0
      ? []
      : [
          '',
          'The input holds no agent run: no collector recognises an agent, a model call or a tool call in its spans. docs/reference/dialects.md lists the dialects.',
        ]),
  ];
}

function leftOutLine({ reason, meaning, count }: LeftOut): string {
  return `${count} × ${meaning}${reason === '' ? '' : ` (${reason})`}`;
}

function countOf(runs: readonly InspectedRun[]): number {
  return runs.reduce((sum, { subRuns }) => sum + 1 + countOf(subRuns), 0);
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const agentsMax = 50;
const nameMax = 80;

function sharesLines(agents: readonly AgentShares[]): readonly string[] {
  const left = agents.length - agentsMax;
  return [
    'Runs that each evaluator could score, without those that gave it nothing to check:',
    ...agents.slice(0, agentsMax).flatMap((one) => ['', ...agentLines(one)]),
    ...(left > 0 ? ['', `${left} more agents are not shown; --format json has all.`] : []),
  ];
}

function agentLines({ agent, dialect, dialects, runs, shares, evaluability }: AgentShares): readonly string[] {
  const on = new Set(evaluability.filter((one) => one.on).map(({ name }) => name));
  // An evaluator that is off and needs an expectation or options shows nothing about the spans.
  const listed = shares
    .filter((share) => on.has(share.name) || share.scored + share.failed > 0 || share.skipped.some(({ need }) => need !== 'expectation'))
    .sort((a, b) => Number(on.has(b.name)) - Number(on.has(a.name)));
  const width = Math.max(0, ...listed.map(({ name }) => name.length));
  const shareWidth = Math.max(0, ...listed.map((share) => shareText(share).length));
  return [
    `  ${oneLine(agent, nameMax) || '(no agent name)'} (dialect ${dialect || 'unknown'}): ${runs} run${runs === 1 ? '' : 's'}`,
    ...listed.map((share) =>
      `    ${share.name.padEnd(width)}  ${on.has(share.name) ? 'on ' : 'off'}  ${shareText(share).padEnd(shareWidth)}  ${othersText(share)}`.trimEnd(),
    ),
    ...moreLines(evaluability.filter(isListed), { dialects, indent: '    ' }),
  ];
}

function isListed({ on, lack }: Lacking & { readonly on: boolean }): boolean {
  return on || (lack !== 'expectation' && lack !== 'options');
}

/** Runs that gave an evaluator nothing to check count for neither side. */
function shareText({ scored, looked, skipped }: Share): string {
  const idle = skipped.reduce((sum, { need, runs }) => sum + (need === '' ? runs : 0), 0);
  return looked === idle ? '–' : `${scored} of ${looked - idle} (${Math.floor((scored / (looked - idle)) * 100)} %)`;
}

function othersText({ skipped, failed }: Share): string {
  const lacking = skipped.filter(({ need }) => need !== '').map(({ reason, runs }) => `${reason} ${runs}`);
  const idle = skipped.filter(({ need }) => need === '').map(({ reason, runs }) => `${reason || 'skipped'} ${runs}`);
  const parts = [lacking.join(', '), failed > 0 ? `failed ${failed}` : '', idle.length === 0 ? '' : `nothing to check: ${idle.join(', ')}`];
  return parts.filter((part) => part !== '').join('; ');
}

const textMax = 160;
const listMax = 12;
const nanosPerMs = 1_000_000n;

function runLines(inspected: InspectedRun): readonly string[] {
  const { run, evaluability, via, subRuns } = inspected;
  const { trace } = run;
  const executed = trace.toolCalls.filter((call) => call.executed);
  const neverRan = trace.toolCalls.filter((call) => !call.executed);
  return [
    `${via === undefined ? 'Run of' : 'Sub-agent'} ${oneLine(trace.agent ?? '(no agent name)', nameMax)}${via === undefined ? '' : ` (via ${viaText(via)})`}`,
    ...columns(facts(run)),
    '',
    ...(executed.length === 0
      ? [`  Tool calls: ${trace.toolCallsCarried ? 'none' : 'not carried by these spans'}`]
      : ['  Tool calls, in order', ...executed.flatMap((call, index) => callLines(call, index + 1))]),
    ...(neverRan.length === 0
      ? []
      : ['', '  Requested calls that did not run', ...neverRan.flatMap((call, index) => callLines(call, index + 1))]),
    '',
    ...definitionLines(trace.toolDefinitions),
    '',
    ...evaluabilityLines(evaluability, run.dialects),
    ...subRuns.flatMap((sub) => ['', ...runLines(sub).map((line) => (line === '' ? '' : `    ${line}`))]),
  ];
}

function facts(run: Run): readonly (readonly [string, string])[] {
  const { trace } = run;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['trace / span', `${run.traceId} / ${run.spanId}`],
    ['service', run.service === undefined ? undefined : [run.service, run.serviceVersion ?? ''].join(' ').trim()],
    ['session', trace.sessionId],
    ['read by', run.dialects.join(', ')],
    ['by evidence', run.evidence === undefined ? undefined : evidenceText(run.evidence)],
    [
      'began',
      `${new Date(Number(run.startUnixNano / nanosPerMs)).toISOString()}, took ${durationText(run.endUnixNano - run.startUnixNano)}`,
    ],
    ['completeness', completenessTexts[run.completeness]],
    ['status', trace.errorMessage === undefined ? trace.status : `${trace.status}: ${trace.errorMessage}`],
    ['input', trace.input ?? '(not carried)'],
    ['answer', trace.finalResponse === undefined ? '(none carried)' : plainText(trace.finalResponse)],
    ['system prompt', trace.systemPrompt],
    ['model', modelText(run)],
    ['cut short', trace.truncated?.map((part) => part.replace('_', ' ')).join(', ')],
    ['documents', trace.documents.length === 0 ? undefined : String(trace.documents.length)],
    ['expected', run.expected === undefined ? undefined : plainText(run.expected)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, oneLine(value, textMax)] as const]));
}

function evidenceText(evidence: RunEvidence): string {
  const fields = Object.entries(evidence.fields).map(([field, by]) => `${field.replace('_', ' ')} (${by.replaceAll('_', ' ')})`);
  return `${Math.round(runConfidence(evidence) * 100)} % sure: ${fields.join(', ')}`;
}

const completenessTexts: { readonly [completeness in Completeness]: string } = {
  complete: 'complete',
  partial: 'partial: some announced spans are missing',
  abandoned: 'abandoned: the agent span is missing',
  evicted: 'evicted: closed early to stay within memory',
};

function modelText({ trace }: Run): string {
  const calls = trace.modelCalls.length;
  const tokens =
    trace.tokens === undefined ? 'tokens not carried' : `${trace.tokens.input ?? '?'} tokens in, ${trace.tokens.output ?? '?'} out`;
  return `${trace.model ?? '(not carried)'}, ${calls === 1 ? '1 model call' : `${calls} model calls`}${calls === 0 && trace.tokens === undefined ? '' : `, ${tokens}`}`;
}

function callLines(call: ToolCall, number: number): readonly string[] {
  const from = (field: 'name' | 'id' | 'arguments' | 'result' | 'error'): string => {
    const source = call.provenance?.[field];
    return source === undefined ? '' : `  [${source}]`;
  };
  const args = call.arguments ?? call.argumentsText;
  const indent = '     ';
  return [
    `  ${String(number).padStart(3)}. ${oneLine(call.name, nameMax)}${from('name')}`,
    ...(call.id === undefined ? [] : [`${indent}  id         ${oneLine(call.id, nameMax)}${from('id')}`]),
    `${indent}  arguments  ${args === undefined || args === null ? left(call.truncated?.arguments) : oneLine(plainText(args), textMax)}${from('arguments')}`,
    ...(call.error === undefined
      ? []
      : [
          `${indent}  error      ${oneLine([call.error.type, call.error.message].filter((text) => text !== undefined && text !== '').join(': ') || '(no message)', textMax)} (${call.error.sign})${from('error')}`,
        ]),
    ...(call.hold === undefined ? [] : [`${indent}  outcome    ${holdTexts[call.hold]}`]),
    ...(call.result === undefined && (call.error !== undefined || !call.executed)
      ? []
      : [
          `${indent}  result     ${call.result === undefined ? left(call.truncated?.result) : oneLine(plainText(call.result), textMax)}${from('result')}`,
        ]),
  ];
}

const holdTexts: { readonly [hold in NonNullable<ToolCall['hold']>]: string } = {
  waiting: 'waits for a person or another program',
  refused: 'refused by a person',
};

/** The rest of a truncated value. */
function left(part: string | undefined): string {
  return part === undefined ? '(not carried)' : `(cut short) ${oneLine(part, textMax)}`;
}

function definitionLines(definitions: readonly ToolDefinition[]): readonly string[] {
  if (definitions.length === 0) return ['  Tool definitions: none carried by these spans'];
  return [
    '  Tool definitions',
    ...columns(
      definitions.map(
        ({ name, inputSchema, truncated }) =>
          [`  ${oneLine(name, nameMax)}`, truncated === true ? `${schemaText(inputSchema)}, cut short` : schemaText(inputSchema)] as const,
      ),
    ),
  ];
}

function schemaText(schema: JsonValue | undefined): string {
  if (schema === undefined || schema === null) return 'without a schema';
  const properties = isJsonObject(schema) ? member(schema, 'properties') : undefined;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  if (names.length === 0) return 'schema without properties';
  const more = names.length > listMax ? ', …' : '';
  return `schema: ${names
    .slice(0, listMax)
    .map((name) => oneLine(name, nameMax))
    .join(', ')}${more}`;
}

function viaText({ via, viaTool }: SubAgent): string {
  return viaTool === undefined ? via : `${via} ${oneLine(viaTool, nameMax)}`;
}

function durationText(nanos: bigint): string {
  const ms = Number(nanos / 1_000n) / 1_000;
  return ms < 1_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

const explanationMax = 200;
const errorMax = 40;

/** Lists evaluators that are on or could score the run; a few lines name the rest. */
function evaluabilityLines(all: readonly Evaluability[], dialects: readonly string[]): readonly string[] {
  const unconfigured = all.filter(isUnconfigured);
  const unexpecting = all.filter((one) => !unconfigured.includes(one) && lacksExpectation(one));
  const listed = all.filter((one) => !unconfigured.includes(one) && !unexpecting.includes(one)).sort((a, b) => Number(b.on) - Number(a.on));
  const more = moreLines(listed, { dialects, indent: '  ' });
  const width = Math.max(0, ...listed.map(({ name }) => name.length));
  const answerWidth = Math.max(0, ...listed.map((one) => answer(one).length));
  return [
    '  Evaluators',
    ...listed.map((one) =>
      `    ${one.name.padEnd(width)}  ${one.on ? 'on ' : 'off'}  ${answer(one).padEnd(answerWidth)}  ${explanation(one)}`.trimEnd(),
    ),
    ...namesLines('off; score with an expectation (`expect` or tracejury.expected)', unexpecting),
    ...namesLines('off; need options (tracejury evaluators NAME lists them)', unconfigured),
    ...(more.length === 0 ? [] : ['', ...more]),
  ];
}

function isUnconfigured({ on, outcome, lack }: Evaluability): boolean {
  return !on && (outcome.kind === 'needs_configuration' || lack === 'options');
}

function lacksExpectation({ on, lack }: Evaluability): boolean {
  return !on && lack === 'expectation';
}

function namesLines(what: string, some: readonly Evaluability[]): readonly string[] {
  return some.length === 0 ? [] : [`    ${what}:`, ...wrapped(some.map(({ name }) => name).join(', '), 6, 8, lineMax)];
}

function answer({ outcome }: Evaluability): string {
  switch (outcome.kind) {
    case 'scored':
      return `${outcome.label === '' ? 'scored' : outcome.label} ${Number(outcome.score.toFixed(2))}`;
    case 'skipped':
      return `skipped: ${outcome.reason}`;
    case 'failed':
      return `failed: ${oneLine(outcome.error, errorMax)}`;
    case 'would_ask':
      return 'could score';
    case 'filtered':
      return 'filtered';
    case 'needs_configuration':
      return 'not configured';
    default:
      return unreachable(outcome);
  }
}

function explanation({ outcome, on, missing, lack, evaluator }: Evaluability): string {
  if (outcome.kind === 'would_ask' && evaluator.kind === 'http') return 'The service asks its endpoint; inspect asks none.';
  if (outcome.kind === 'would_ask')
    return on ? 'The service asks a judge; inspect asks none.' : 'It needs a judge: configure one under judges.';
  if (outcome.kind === 'filtered') return 'Its condition `when` excludes this run.';
  return [oneLine(outcome.explanation, explanationMax), ...(outcome.kind === 'skipped' ? [missingText(missing, lack)] : [])]
    .join(' ')
    .trimEnd();
}

/** Further missing data beyond the explanation. */
function missingText(missing: readonly Need[], lack: Evaluability['lack']): string {
  const others = missing.filter((need) => need !== lack);
  return others.length === 0
    ? ''
    : `${others.length === missing.length ? 'Missing' : 'Also missing'}: ${others.map((need) => needTexts[need]).join(', ')}.`;
}

/** An evaluator with missing data. */
type Lacking = Pick<Evaluability, 'name' | 'lack' | 'hints'>;

const lineMax = 120;
const placesMax = 6;

/** A block for each setting with the evaluators that it helps, and the attributes that then carry the data. */
function moreLines(
  all: readonly Lacking[],
  { dialects, indent }: { readonly dialects: readonly string[]; readonly indent: string },
): readonly string[] {
  const lacking = all.flatMap((one) => one.hints.map((hint) => ({ hint, lack: one.lack, name: one.name })));
  const blocks = [...Map.groupBy(lacking, ({ hint }) => hint)].flatMap(([hint, some]) => [
    `${indent}  ${hint}`,
    ...[...Map.groupBy(some, ({ lack }) => lack)].flatMap(([lack, same]) =>
      wrapped(brings(lack, new Set(same.map(({ name }) => name)), dialects), indent.length + 4, indent.length + 6, lineMax),
    ),
  ]);
  return blocks.length === 0 ? [] : [`${indent}To score more`, ...blocks];
}

function brings(lack: Evaluability['lack'], names: ReadonlySet<string>, dialects: readonly string[]): string {
  const who = `for ${[...names].join(', ')}`;
  if (lack === undefined || lack === 'options') return who;
  const places = placesOf(lack, dialects);
  const searched = [...places.slice(0, placesMax), ...(places.length > placesMax ? ['…'] : [])].join(', ');
  return `${lackTexts[lack]}, ${who}${searched === '' ? '' : `; looked for in ${searched}`}`;
}

export const needTexts: { readonly [need in Need]: string } = {
  tool_calls: lackTexts.tool_calls,
  tool_definitions: lackTexts.tool_definitions,
  tool_results: lackTexts.tool_results,
  input: lackTexts.input,
  final_response: lackTexts.final_response,
  expected_tool_calls: 'expected tool calls (expect.tool_calls)',
  expected_tool_outputs: 'expected tool outputs (expect.tool_outputs)',
  expected_tool_counts: 'expected numbers of tool calls (expect.tool_calls_count)',
  expected_tool_order: 'the expected order of tools (expect.tool_calls_order)',
  expected_messages: 'the reference messages (expect.messages)',
  expected_output: 'the expected output (expect.output)',
  expected_context: 'a context with the facts (expect.context)',
  documents: 'retrieved documents',
  search_text: 'the texts to search for (expect.search_text)',
  tokens: lackTexts.tokens,
  times: lackTexts.times,
  tasks: 'tasks (expect.tasks)',
};
