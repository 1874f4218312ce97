/**
 * Claims of reconstructed runs about an agent's work, value by value, and their truth. A claim is a reported value; a value that is
 * not reported makes no claim. Excuses of a recording are excuses here too.
 */
import type { EvidenceClass } from '../../src/model/evidence.ts';
import { requestCount, type Run, type ToolCall } from '../../src/model/agent-trace.ts';
import { plainText, type JsonValue } from '../../src/model/json.ts';
import { modelNames } from '../../evaluators/pricing/prices.ts';
import { excuseOf, family, isSameShape, mergedRuns } from './compare.ts';
import { isEqual } from './equal.ts';
import type { ExpectedCall, ExpectedRecording, ExpectedTrace } from './expected.ts';

export const claimFields = [
  'runs',
  'agent_name',
  'session_id',
  'input',
  'system_prompt',
  'final_response',
  'status',
  'model',
  'llm_calls',
  'tokens',
  'tool call names',
  'arguments',
  'results',
  'errors',
  'callers',
  'tools',
  'sub_agents',
] as const;
export type ClaimField = (typeof claimFields)[number];

export interface Claim {
  readonly field: ClaimField;
  readonly state: 'right' | 'wrong' | 'not claimed';
  /** The expected and the reported value, for readers who look for the cause. */
  readonly detail: string;
  /** How the reader by evidence knows it; absent when others reported it, or no reader did. */
  readonly by?: EvidenceClass;
}

type Say = (field: ClaimField, state: Claim['state'], expected?: unknown, told?: unknown, by?: EvidenceClass) => void;

export function claimsOf(expected: ExpectedRecording, runs: readonly Run[]): readonly Claim[] {
  const claims: Claim[] = [];
  const say: Say = (field, state, wanted, told, by) =>
    claims.push({ field, state, detail: `${field}: expected ${show(wanted)}, told ${show(told)}`, ...(by === undefined ? {} : { by }) });
  for (const other of expected.other_otlp_traces)
    if (runs.some((run) => run.traceId === other.otlp_trace_id)) say('runs', 'wrong', 'no run', other.root_spans);
  for (const trace of expected.traces) {
    const parts = trace.split_over_otlp_traces;
    const roots = parts === undefined ? runs.filter((run) => run.traceId === trace.otlp_trace_id && run.parent === undefined) : [];
    const [root, ...others] = roots;
    const whole = parts !== undefined ? mergedRuns(parts, runs) : root === undefined ? [] : family(root, runs);
    say('runs', whole.length === 0 ? 'not claimed' : 'right', 1, roots.length);
    for (const other of others) say('runs', 'wrong', 1, other.trace.agent ?? 'a run without a name');
    traceClaims(expected, trace, whole, say);
  }
  return claims;
}

function traceClaims(recording: ExpectedRecording, expected: ExpectedTrace, whole: readonly Run[], say: Say): void {
  const trace = whole[0]?.trace;
  const evidence: { readonly [field: string]: EvidenceClass | undefined } = whole[0]?.evidence?.fields ?? {};
  const text = (field: ClaimField, wanted: unknown, told: JsonValue | undefined): void => {
    if (wanted === null || wanted === undefined) return;
    const isResultReported = told !== undefined && told !== '';
    say(
      field,
      isResultReported ? (isEqual(wanted, told) ? 'right' : 'wrong') : 'not claimed',
      wanted,
      told,
      evidence[sources[field] ?? ''],
    );
  };
  text('agent_name', expected.agent_name, trace?.agent);
  text('session_id', expected.session_id, trace?.sessionId);
  text('input', expected.input, trace?.input);
  text('system_prompt', expected.system_prompt, trace?.systemPrompt);
  text('final_response', expected.final_response, trace?.finalResponse);
  if (expected.status === 'error') say('status', trace?.status === 'error' ? 'right' : 'not claimed', 'error', trace?.status);
  else if (trace?.status === 'error') say('status', 'wrong', 'ok', 'error');
  const model = whole.find((run) => run.trace.model !== undefined)?.trace.model;
  if (expected.model !== undefined)
    say('model', model === undefined ? 'not claimed' : isSameModel(expected.model, model) ? 'right' : 'wrong', expected.model, model);
  const number = (field: ClaimField, path: string, wanted: number, told: number | undefined): void => {
    const excuse = excuseOf(recording, path);
    if (told === undefined) return say(field, 'not claimed', wanted, told);
    const isExcused = excuse === 'not_carried' || (excuse === 'partly_carried' && told <= wanted);
    say(field, isExcused || told === wanted ? 'right' : 'wrong', wanted, told, evidence[sources[field] ?? '']);
  };
  const calls = whole.reduce((sum, run) => sum + requestCount(run.trace.modelCalls), 0);
  number('llm_calls', 'llm_calls', expected.llm_calls, calls === 0 ? undefined : calls);
  for (const side of expected.tokens === undefined ? [] : (['input', 'output'] as const)) {
    const told = whole.flatMap((run) => run.trace.tokens?.[side] ?? []);
    const sum = told.length === 0 ? undefined : told.reduce((total, one) => total + one, 0);
    number('tokens', `tokens.${side}`, expected.tokens?.[side] ?? 0, sum);
  }
  callClaims(recording, expected, whole, say);
  definitionClaims(expected, whole, say);
  for (const sub of expected.sub_agents)
    say('sub_agents', whole.slice(1).some((run) => run.trace.agent === sub.agent_name) ? 'right' : 'not claimed', sub.agent_name);
  // A sub-agent without a name reports no name of an expected one.
  const named = new Set(whole.slice(1).flatMap(({ trace: { agent } }) => agent ?? []));
  let unnamed = expected.sub_agents.filter((sub) => !named.has(sub.agent_name)).length;
  for (const run of whole.slice(1))
    if (!expected.sub_agents.some((sub) => sub.agent_name === run.trace.agent) && (run.trace.agent !== undefined || unnamed-- <= 0))
      say('sub_agents', 'wrong', 'none', run.trace.agent ?? 'no name');
}

/** The field of a run's evidence that a claim belongs to. */
const sources: { readonly [field in ClaimField]?: string } = {
  agent_name: 'agent',
  input: 'input',
  final_response: 'final_response',
  llm_calls: 'model_calls',
};

/** A gateway's name of the model is the model's: prices are looked up under either. */
function isSameModel(expected: string, told: string): boolean {
  return modelNames(told).some((name) => name.startsWith(expected)) || expected.startsWith(told);
}

/** The maker of a call in the run of a sub-agent without a name. */
const unnamed = '';

interface Owned<Call> {
  readonly call: Call;
  /** The sub-agent that made it; undefined: the run's own agent. */
  readonly by: string | undefined;
  readonly known?: EvidenceClass | undefined;
}

function callClaims(recording: ExpectedRecording, expected: ExpectedTrace, whole: readonly Run[], say: Say): void {
  const all: readonly Owned<ExpectedCall>[] = [
    ...expected.tool_calls.map((call) => ({ call, by: undefined })),
    ...expected.sub_agents.flatMap((sub) => sub.tool_calls.map((call) => ({ call, by: sub.agent_name }))),
  ];
  const optional = new Set([
    ...expected.sub_agents.flatMap(({ via, via_tool }) => (via === 'handoff' && via_tool !== null ? [via_tool] : [])),
    ...all.flatMap(({ call }) => (call.framework_internal === true ? [call.name] : [])),
  ]);
  const wanted = all.filter(({ call }) => call.framework_internal !== true);
  const told: Owned<ToolCall>[] = whole.flatMap((run, index) =>
    run.trace.toolCalls
      .filter((call) => call.executed && !optional.has(call.name))
      .map((call) => ({ call, by: index === 0 ? undefined : (run.trace.agent ?? unnamed), known: run.evidence?.fields.tool_calls })),
  );
  for (const one of wanted) {
    const same = told.filter(({ call }) => call.name === one.call.name);
    const best = same.find(({ call }) => call.id !== undefined && call.id === one.call.id) ?? bestOf(same, one);
    if (best === undefined) {
      for (const field of ['tool call names', 'arguments', one.call.error === undefined ? 'results' : 'errors'] as const)
        say(field, 'not claimed', one.call.name);
      continue;
    }
    told.splice(told.indexOf(best), 1);
    say('tool call names', 'right', one.call.name, best.call.name, best.known);
    if (expected.sub_agents.length > 0)
      say(
        'callers',
        one.by === best.by ? 'right' : best.by === unnamed && one.by !== undefined ? 'not claimed' : 'wrong',
        [one.by ?? 'root', one.call.name],
        best.by ?? 'root',
      );
    oneCall(recording, one.call, best.call, (field, state, wanted, claimed) => say(field, state, wanted, claimed, best.known));
  }
  for (const { call, known } of told) say('tool call names', 'wrong', 'no such call', call.name, known);
}

/** Among calls of one name, the one of the same agent with the same arguments. */
function bestOf(same: readonly Owned<ToolCall>[], { call: { arguments: wanted }, by }: Owned<ExpectedCall>): Owned<ToolCall> | undefined {
  const equal = same.filter(({ call }) => isEqual(wanted, call.arguments));
  return equal.find((one) => one.by === by) ?? equal[0] ?? same.find((one) => one.by === by) ?? same[0];
}

function oneCall(recording: ExpectedRecording, wanted: ExpectedCall, told: ToolCall, say: Say): void {
  const args = told.arguments ?? told.argumentsText;
  say('arguments', args === undefined ? 'not claimed' : isEqual(wanted.arguments, args) ? 'right' : 'wrong', wanted.arguments, args);
  if (wanted.error !== undefined) {
    const isMessageCarried = excuseOf(recording, 'tool_calls[].error.message') === undefined;
    const isRight = !isMessageCarried || (told.error?.message.includes(wanted.error.message) ?? false);
    return say('errors', told.error === undefined ? 'not claimed' : isRight ? 'right' : 'wrong', wanted.error.message, told.error?.message);
  }
  if (told.error !== undefined) say('errors', 'wrong', 'none', told.error.message);
  if (wanted.result === undefined) return;
  const isRight =
    isEqual(wanted.result, told.result) ||
    (wanted.result_as_the_model_saw_it !== undefined && isEqual(wanted.result_as_the_model_saw_it, told.result));
  say('results', told.result === undefined ? 'not claimed' : isRight ? 'right' : 'wrong', wanted.result, told.result);
}

/** Tools beside the agent's own are the framework's, and are offered too. */
function definitionClaims(expected: ExpectedTrace, whole: readonly Run[], say: Say): void {
  const told = whole.flatMap((run) => run.trace.toolDefinitions);
  // Each agent of a run may offer a tool of one name, in different words.
  const own = new Map(
    [...expected.tools, ...expected.sub_agents.flatMap((sub) => sub.tools)].map((tool) => [`${tool.name}\n${tool.description}`, tool]),
  );
  for (const tool of own.values()) {
    const same = told.filter((one) => one.name === tool.name);
    if (same.length === 0) {
      say('tools', 'not claimed', tool.name);
      continue;
    }
    const descriptions = same.flatMap(({ description }) => description ?? []);
    const schemas = same.flatMap(({ inputSchema }) => (inputSchema === undefined ? [] : [inputSchema]));
    const isRight =
      (descriptions.length === 0 || descriptions.some((one) => isEqual(tool.description, one))) &&
      (schemas.length === 0 || schemas.some((one) => isSameShape(tool.input_schema as JsonValue, one)));
    say('tools', isRight ? 'right' : 'wrong', tool, { descriptions, schemas });
  }
}

function show(value: unknown): string {
  const shown = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return plainText(shown).slice(0, 220);
}
