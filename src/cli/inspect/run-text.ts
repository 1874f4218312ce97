/** One run as text for a terminal: the reconstruction, the source of each piece, and which evaluators could score it. */
import { isJsonObject, member, plainText, type JsonValue } from '../../model/json.ts';
import type { Completeness, Run, SubAgent, ToolCall, ToolDefinition } from '../../model/agent-trace.ts';
import { columns } from '../usage.ts';
import type { InspectedRun } from './inspected.ts';
import { oneLine } from './one-line.ts';
import type { Need } from '../../../evaluators/evaluator.ts';
import { unreachable } from '../../model/ids.ts';
import { needTexts } from '../needs.ts';
import type { Evaluability } from './evaluability.ts';
import { moreLines, wrapped } from './missing-data-text.ts';

const textMax = 160;
const nameMax = 80;
const listMax = 12;
const nanosPerMs = 1_000_000n;

export function runLines(inspected: InspectedRun): readonly string[] {
  const { run, evaluability, via, subRuns } = inspected;
  const { trace } = run;
  const executed = trace.toolCalls.filter((call) => call.executed);
  const neverRan = trace.toolCalls.filter((call) => !call.executed);
  return [
    `${via === undefined ? 'Run of' : 'Sub-agent'} ${quoted(trace.agent ?? '(no agent name)', nameMax)}${via === undefined ? '' : ` (via ${viaText(via)})`}`,
    ...columns(facts(run)),
    '',
    ...(executed.length === 0
      ? [`  Tool calls: ${trace.toolCallsCarried ? 'none' : 'not carried by these spans'}`]
      : ['  Tool calls, in order', ...executed.flatMap((call, index) => callLines(call, index + 1))]),
    ...(neverRan.length === 0
      ? []
      : ['', '  Asked for, but nothing shows that they ran', ...neverRan.flatMap((call, index) => callLines(call, index + 1))]),
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
  return rows.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, quoted(value, textMax)] as const]));
}

const completenessTexts: { readonly [completeness in Completeness]: string } = {
  complete: 'complete',
  partial: 'partial: something that the spans announce never came',
  abandoned: 'abandoned: no agent span came',
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
    `  ${String(number).padStart(3)}. ${quoted(call.name, nameMax)}${from('name')}`,
    ...(call.id === undefined ? [] : [`${indent}  id         ${quoted(call.id, nameMax)}${from('id')}`]),
    `${indent}  arguments  ${args === undefined || args === null ? left(call.truncated?.arguments) : quoted(plainText(args), textMax)}${from('arguments')}`,
    ...(call.error === undefined
      ? []
      : [
          `${indent}  error      ${quoted([call.error.type, call.error.message].filter((text) => text !== undefined && text !== '').join(': ') || '(no message)', textMax)} (${call.error.sign})${from('error')}`,
        ]),
    ...(call.result === undefined && (call.error !== undefined || !call.executed)
      ? []
      : [
          `${indent}  result     ${call.result === undefined ? left(call.truncated?.result) : quoted(plainText(call.result), textMax)}${from('result')}`,
        ]),
  ];
}

/** What is left of a value that was cut short. */
function left(part: string | undefined): string {
  return part === undefined ? '(not carried)' : `(cut short) ${quoted(part, textMax)}`;
}

function definitionLines(definitions: readonly ToolDefinition[]): readonly string[] {
  if (definitions.length === 0) return ['  Tool definitions: none carried by these spans'];
  return [
    '  Tool definitions',
    ...columns(
      definitions.map(
        ({ name, inputSchema, truncated }) =>
          [`  ${quoted(name, nameMax)}`, truncated === true ? `${schemaText(inputSchema)}, cut short` : schemaText(inputSchema)] as const,
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
    .map((name) => quoted(name, nameMax))
    .join(', ')}${more}`;
}

function viaText({ via, viaTool }: SubAgent): string {
  return viaTool === undefined ? via : `${via} ${quoted(viaTool, nameMax)}`;
}

function durationText(nanos: bigint): string {
  const ms = Number(nanos / 1_000n) / 1_000;
  return ms < 1_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

function quoted(text: string, charsMax: number): string {
  return oneLine(text, charsMax);
}

// What each evaluator makes of a run, as lines: its verdict, or why there is none and what to do about it.

const explanationMax = 200;
const errorMax = 40;

/** Evaluators that are on, and those that are off and could score the run; a few lines name the rest. */
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
    ...namesLines('off; would score once `expect` or tracejury.expected says what is expected', unexpecting),
    ...namesLines('off; run only with options (tracejury evaluators NAME lists them)', unconfigured),
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
  return some.length === 0 ? [] : [`    ${what}:`, ...wrapped(some.map(({ name }) => name).join(', '), '      ')];
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
  if (outcome.kind === 'would_ask' && evaluator.kind === 'http') return 'Its endpoint is asked in the service; inspect asks none.';
  if (outcome.kind === 'would_ask')
    return on ? 'A judge is asked in the service; inspect asks none.' : 'It asks a judge: name one under judges in the configuration.';
  if (outcome.kind === 'filtered') return 'Its condition `when` leaves this run out.';
  return [oneLine(outcome.explanation, explanationMax), ...(outcome.kind === 'skipped' ? [missingText(missing, lack)] : [])]
    .join(' ')
    .trimEnd();
}

/** What the evaluator would lack next, after what its explanation names. */
function missingText(missing: readonly Need[], lack: Evaluability['lack']): string {
  const others = missing.filter((need) => need !== lack);
  return others.length === 0
    ? ''
    : `${others.length === missing.length ? 'Missing' : 'Also missing'}: ${others.map((need) => needTexts[need]).join(', ')}.`;
}
