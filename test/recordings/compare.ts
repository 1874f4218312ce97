/** Compares reconstructed runs with what the agent really did. Gives the differences in words; none = equal. */
import { requestCount, type Run, type ToolCall, type ToolDefinition } from '../../src/model/agent-trace.ts';
import { isJsonObject, plainText, type JsonValue } from '../../src/model/json.ts';
import { isEqual } from './equal.ts';
import type { ExpectedCall, ExpectedRecording, ExpectedSubAgent, ExpectedTool, ExpectedTrace } from './expected.ts';

export type Excuse = 'not_carried' | 'partly_carried' | undefined;

interface Comparison {
  readonly excuse: (path: string) => Excuse;
  readonly differences: string[];
}

export function differences(expected: ExpectedRecording, runs: readonly Run[]): readonly string[] {
  const found: string[] = [];
  const excuse = (path: string): Excuse => excuseOf(expected, path);
  for (const other of expected.other_otlp_traces)
    if (runs.some((run) => run.traceId === other.otlp_trace_id))
      found.push(`trace ${other.otlp_trace_id} (${other.root_spans.join(', ')}) is not an agent run, but one was reported`);
  for (const trace of expected.traces) {
    if (trace.split_over_otlp_traces !== undefined) {
      const [merged, ...others] = mergedRuns(trace.split_over_otlp_traces, runs);
      if (merged === undefined) found.push(`traces ${trace.split_over_otlp_traces.join(', ')}: no run`);
      else compareTrace(trace, [merged, ...others], { excuse, differences: found });
      continue;
    }
    const roots = runs.filter((run) => run.traceId === trace.otlp_trace_id && run.parent === undefined);
    const root = roots[0];
    if (root === undefined || roots.length > 1) found.push(`trace ${trace.otlp_trace_id}: ${roots.length} runs instead of 1`);
    else compareTrace(trace, family(root, runs), { excuse, differences: found });
  }
  return found;
}

export function excuseOf(expected: ExpectedRecording, path: string): Excuse {
  const tokens = path.startsWith('tokens.') ? 'tokens' : path;
  if (expected.not_carried.includes(path) || expected.not_carried.includes(tokens)) return 'not_carried';
  return expected.partly_carried.includes(path) || expected.partly_carried.includes(tokens) ? 'partly_carried' : undefined;
}

/** The run that several traces hold together, and the sub-agents of all its parts. Empty: no trace holds a part. */
export function mergedRuns(traceIds: readonly string[], runs: readonly Run[]): readonly Run[] {
  const merged = mergedRun(traceIds, runs);
  const parts = runs.filter((run) => traceIds.includes(run.traceId) && run.parent === undefined);
  return merged === undefined ? [] : [merged, ...parts.flatMap((part) => family(part, runs).slice(1))];
}

/** One run out of those of several traces, in order of time: the same call id counts once, definitions are united. */
function mergedRun(traceIds: readonly string[], runs: readonly Run[]): Run | undefined {
  const parts = runs
    .filter((run) => traceIds.includes(run.traceId) && run.parent === undefined)
    .sort((a, b) => (a.startUnixNano < b.startUnixNano ? -1 : 1));
  const [first] = parts;
  if (first === undefined) return undefined;
  const traces = parts.map((run) => run.trace);
  const calls = new Map<string, ToolCall>();
  for (const call of traces.flatMap((trace) => trace.toolCalls)) {
    const key = call.id ?? `${calls.size}`;
    const known = calls.get(key);
    if (known === undefined || (!known.executed && call.executed)) calls.set(key, call);
  }
  const input = traces.find((trace) => trace.input !== undefined)?.input;
  const finalResponse = traces.findLast((trace) => trace.finalResponse !== undefined)?.finalResponse;
  return {
    ...first,
    trace: {
      ...first.trace,
      ...(input === undefined ? {} : { input }),
      ...(finalResponse === undefined ? {} : { finalResponse }),
      toolCalls: [...calls.values()],
      toolDefinitions: traces.flatMap((trace) => trace.toolDefinitions),
      modelCalls: traces.flatMap((trace) => trace.modelCalls),
    },
  };
}

/** The run and its sub-agents, however deep. */
export function family(root: Run, runs: readonly Run[]): readonly [Run, ...Run[]] {
  const children = runs.filter((run) => run.parent?.spanId === root.spanId && run.parent.traceId === root.traceId && run !== root);
  return [root, ...children.flatMap((child) => family(child, runs))];
}

function compareTrace(expected: ExpectedTrace, whole: readonly [Run, ...Run[]], to: Comparison): void {
  const [{ trace }] = whole;
  text('agent_name', expected.agent_name, trace.agent, to);
  text('session_id', expected.session_id, trace.sessionId, to);
  text('input', expected.input, trace.input, to);
  text('system_prompt', expected.system_prompt, trace.systemPrompt, to);
  if (expected.final_response === null && expected.status === 'error') {
    const response = trace.finalResponse;
    if (response !== undefined && !plainText(response).includes(trace.errorMessage ?? '\0'))
      to.differences.push(`final_response: none expected, got ${show(response)}`);
  } else text('final_response', expected.final_response, trace.finalResponse, to);
  if (expected.status === 'error' && trace.status !== 'error') to.differences.push('status: error expected');
  model(expected, whole, to);
  numbers(expected, whole, to);
  const handovers = expected.sub_agents.filter((sub) => sub.via === 'handoff').map((sub) => sub.via_tool);
  compareCalls('tool_calls', expected.tool_calls, trace.toolCalls, handovers, to);
  compareTools(
    expected.tools,
    whole.flatMap((run) => run.trace.toolDefinitions),
    to,
  );
  for (const sub of expected.sub_agents) compareSubAgent(sub, whole, handovers, to);
}

function text(field: string, expected: unknown, actual: JsonValue | undefined, to: Comparison): void {
  if (expected === null || expected === undefined) return;
  const unknown = actual === undefined || actual === '';
  if (unknown && to.excuse(field) !== undefined) return;
  if (!isEqual(expected, actual)) to.differences.push(`${field}: expected ${show(expected)}, got ${show(actual)}`);
}

function model(expected: ExpectedTrace, whole: readonly Run[], to: Comparison): void {
  if (expected.model === undefined) return;
  const actual = whole.find((run) => run.trace.model !== undefined)?.trace.model;
  if (actual === undefined && to.excuse('model') !== undefined) return;
  if (actual === undefined || !(actual.startsWith(expected.model) || expected.model.startsWith(actual)))
    to.differences.push(`model: expected ${expected.model}, got ${actual}`);
}

function numbers(expected: ExpectedTrace, whole: readonly Run[], to: Comparison): void {
  const calls = whole.reduce((sum, run) => sum + requestCount(run.trace.modelCalls), 0);
  number('llm_calls', expected.llm_calls, calls, to);
  if (expected.tokens === undefined) return;
  const sum = (key: 'input' | 'output'): number => whole.reduce((total, run) => total + (run.trace.tokens?.[key] ?? 0), 0);
  number('tokens.input', expected.tokens.input, sum('input'), to);
  number('tokens.output', expected.tokens.output, sum('output'), to);
}

function number(field: string, expected: number, actual: number, to: Comparison): void {
  const excuse = to.excuse(field);
  if (excuse === 'not_carried' || (excuse === 'partly_carried' && actual <= expected)) return;
  if (expected !== actual) to.differences.push(`${field}: expected ${expected}, got ${actual}`);
}

function compareSubAgent(expected: ExpectedSubAgent, whole: readonly Run[], handovers: readonly (string | null)[], to: Comparison): void {
  const found = whole.filter((run, index) => index > 0 && run.trace.agent === expected.agent_name);
  if (found.length === 0) return void to.differences.push(`sub_agents: ${expected.agent_name} is missing`);
  compareCalls(
    `${expected.agent_name}.tool_calls`,
    expected.tool_calls,
    found.flatMap((run) => run.trace.toolCalls),
    handovers,
    to,
  );
  compareTools(
    expected.tools,
    whole.flatMap((run) => run.trace.toolDefinitions),
    to,
  );
}

function compareCalls(
  where: string,
  expected: readonly ExpectedCall[],
  actual: readonly ToolCall[],
  handovers: readonly (string | null)[],
  to: Comparison,
): void {
  const wanted = expected.filter((call) => call.framework_internal !== true);
  const optional = new Set([...handovers, ...expected.filter((call) => call.framework_internal === true).map((call) => call.name)]);
  const calls = actual.filter((call) => call.executed && !optional.has(call.name));
  if (to.excuse('tool_calls[].name') !== undefined && calls.length === 0) return;
  if (wanted.length !== calls.length)
    return void to.differences.push(
      `${where}: expected ${wanted.map((call) => call.name).join(', ')}; got ${calls.map((call) => call.name).join(', ')}`,
    );
  for (const [index, one] of wanted.entries()) {
    const group =
      one.parallel_group === undefined ? [index] : wanted.flatMap((other, at) => (other.parallel_group === one.parallel_group ? [at] : []));
    const attempts = group.map((at) => callDifferences(`${where}[${index}]`, one, calls[at], to));
    const best = attempts.sort((a, b) => a.length - b.length)[0] ?? [];
    to.differences.push(...best);
  }
}

function callDifferences(where: string, expected: ExpectedCall, actual: ToolCall | undefined, to: Comparison): string[] {
  const found: string[] = [];
  if (actual === undefined) return [`${where}: missing`];
  const check = (field: string, known: boolean, isRight: boolean, detail: string): void => {
    if (!isRight && (known || to.excuse(`tool_calls[].${field}`) === undefined)) found.push(`${where}.${field}: ${detail}`);
  };
  check('name', true, expected.name === actual.name, `expected ${expected.name}, got ${actual.name}`);
  if (expected.id !== undefined)
    check('id', actual.id !== undefined, expected.id === actual.id, `expected ${expected.id}, got ${actual.id}`);
  check(
    'arguments',
    actual.arguments !== undefined,
    isEqual(expected.arguments, actual.arguments),
    `expected ${show(expected.arguments)}, got ${show(actual.arguments ?? actual.argumentsText)}`,
  );
  if (expected.error !== undefined) found.push(...errorDifferences(where, expected.error.message, actual, to));
  else if (expected.result !== undefined) {
    const isRight =
      isEqual(expected.result, actual.result) ||
      (expected.result_as_the_model_saw_it !== undefined && isEqual(expected.result_as_the_model_saw_it, actual.result));
    check('result', actual.result !== undefined, isRight, `expected ${show(expected.result)}, got ${show(actual.result)}`);
    if (actual.error !== undefined) found.push(`${where}.error: none expected, got ${actual.error.message}`);
  }
  return found;
}

function errorDifferences(where: string, message: string, actual: ToolCall, to: Comparison): string[] {
  const said = [actual.error?.message ?? '', actual.result === undefined ? '' : plainText(actual.result)].join('\n');
  const messageCarried = to.excuse('tool_calls[].error.message') === undefined;
  if (to.excuse('tool_calls[].error') !== undefined)
    return !messageCarried || said.includes(message)
      ? []
      : [`${where}.error: neither result nor error holds ${show(message)}: ${show(said)}`];
  if (actual.error === undefined) return [`${where}.error: expected ${show(message)}, but the call is not reported as failed`];
  return messageCarried && !actual.error.message.includes(message)
    ? [`${where}.error.message: expected ${show(message)}, got ${show(actual.error.message)}`]
    : [];
}

function compareTools(expected: readonly ExpectedTool[], actual: readonly ToolDefinition[], to: Comparison): void {
  const noDescription = to.excuse('tools[].description');
  const noSchema = to.excuse('tools[].input_schema');
  if (noDescription === 'not_carried' && noSchema === 'not_carried') return;
  for (const tool of expected) {
    const same = actual.filter((one) => one.name === tool.name);
    if (same.length === 0) {
      if (to.excuse('tools[].name') === undefined) to.differences.push(`tools: ${tool.name} is missing`);
      continue;
    }
    // Each agent of a run may offer a tool of this name, in different words.
    const described = same.flatMap(({ description }) => description ?? []);
    if (!(described.length === 0 && noDescription !== undefined) && !described.some((one) => isEqual(tool.description, one)))
      to.differences.push(`tools.${tool.name}.description: expected ${show(tool.description)}, got ${show(described[0])}`);
    const schemas = same.flatMap(({ inputSchema }) => (inputSchema === undefined ? [] : [inputSchema]));
    if (schemas.length === 0 && noSchema !== undefined) continue;
    if (![...schemas, ...(schemas.length === 0 ? [undefined] : [])].some((one) => isSameShape(tool.input_schema as JsonValue, one)))
      to.differences.push(`tools.${tool.name}.input_schema: expected ${show(tool.input_schema)}, got ${show(schemas[0])}`);
  }
}

/** The same property names and, where both name one, the same type per property. */
export function isSameShape(expected: JsonValue, actual: JsonValue | undefined): boolean {
  const left = properties(expected);
  const right = properties(actual);
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => {
    if (!Object.hasOwn(right, name)) return false;
    const [a, b] = [left[name], right[name]].map((schema) => (isJsonObject(schema) ? schema['type'] : undefined));
    return typeof a !== 'string' || typeof b !== 'string' || a.toLowerCase() === b.toLowerCase();
  });
}

function properties(schema: JsonValue | undefined): { readonly [name: string]: JsonValue } {
  const found = isJsonObject(schema) ? schema['properties'] : undefined;
  return isJsonObject(found) ? found : {};
}

function show(value: unknown): string {
  const shown = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner)) ?? 'nothing';
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}
