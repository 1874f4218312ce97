/** Writes down what an agent did, from its own log and from the model server's list of requests. */
import { parseJson } from '../../../../src/model/json.ts';
import type { LogRecord, Span } from '../../../../src/model/span.ts';
import type { ExpectedCall, ExpectedSubAgent, ExpectedTool, ExpectedTrace } from '../../expected.ts';
import { isEqual } from '../../equal.ts';
import type { ModelRequest } from './model-server.ts';
import type { ScriptedCall } from './scenarios.ts';
import { excusesOf, type Carrier, type Excuses } from './carried.ts';

export interface Passing {
  readonly name: string;
  readonly arguments: object;
  readonly via: ExpectedSubAgent['via'];
  /** The framework returns more than the model sees, and no log shows it. */
  readonly isResultUnknown?: boolean;
  /** The second agent's spans are a separate OTLP trace, which nothing links to the first one's. */
  readonly hasOwnTrace?: boolean;
}

export interface LogLine {
  readonly at: number;
  readonly kind: 'turn' | 'call' | 'final' | 'aborted';
  readonly agent?: string;
  readonly name?: string;
  readonly arguments?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly type?: string };
  readonly input?: string;
  readonly session?: string;
  readonly text?: string;
}

export interface Happened {
  readonly log: readonly LogLine[];
  readonly requests: readonly ModelRequest[];
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  readonly passing: Passing | undefined;
  readonly prompts: { readonly [agent: string]: string };
  readonly tools: (agent: string) => readonly ExpectedTool[];
  readonly model: string | null;
  /** Traces of a turn whose root has such a name are not agent runs. */
  readonly otherRoots: RegExp | undefined;
}

export interface Expectation extends Excuses {
  readonly traces: readonly ExpectedTrace[];
  readonly other_otlp_traces: readonly { readonly otlp_trace_id: string; readonly root_spans: readonly string[] }[];
}

const root = 'order_support';

export function expectationOf(happened: Happened): Expectation {
  const turns = happened.log.filter(({ kind }) => kind === 'turn');
  const byTrace = Map.groupBy(happened.spans, ({ traceId }) => traceId as string);
  const started = [...byTrace].map(([id, spans]) => ({
    id,
    spans,
    at: Math.min(...spans.map(({ startUnixNano }) => Number(startUnixNano) / 1e6)),
  }));
  started.sort((a, b) => a.at - b.at);
  const isOther = ({ spans }: (typeof started)[number]): boolean =>
    happened.otherRoots !== undefined && rootsOf(spans).every((name) => happened.otherRoots?.test(name) === true);
  const carriers: Carrier[] = turns.flatMap((turn, nth) => {
    const until = turns[nth + 1]?.at ?? Number.POSITIVE_INFINITY;
    // Some clocks count whole milliseconds.
    const isOfTurn = (at: number): boolean => (nth === 0 || at >= turn.at - 5) && at < until - 5;
    const traces = started.filter((one) => isOfTurn(one.at) && !isOther(one));
    const ids = new Set(traces.map(({ id }) => id));
    const requests = happened.requests.filter(({ at }) => isOfTurn(at));
    const carrierOf = (trace: ExpectedTrace, own: readonly string[]): Carrier => ({
      trace,
      perCall: requests
        .filter(({ agent }) => own.length === ids.size || agent === trace.agent_name)
        .map(({ agent, used }) => ({ agent, ...used })),
      spans: happened.spans.filter(({ traceId }) => own.includes(traceId)),
      records: happened.records.filter(({ traceId }) => own.includes(traceId)),
    });
    const whole = traceOf(turn, happened, { log: happened.log.filter(({ at }) => isOfTurn(at)), requests, ids: [...ids] });
    if (happened.passing?.hasOwnTrace !== true) return [carrierOf(whole, [...ids])];
    return apart(whole, requests, [...ids], happened).map((trace) => carrierOf(trace, [trace.otlp_trace_id ?? '']));
  });
  return {
    traces: carriers.map(({ trace }) => trace),
    other_otlp_traces: started.filter(isOther).map(({ id, spans }) => ({ otlp_trace_id: id, root_spans: rootsOf(spans) })),
    ...excusesOf(carriers),
  };
}

function rootsOf(spans: readonly Span[]): readonly string[] {
  const own = new Set(spans.map(({ spanId }) => spanId));
  return spans.filter(({ parentSpanId }) => parentSpanId === undefined || !own.has(parentSpanId)).map(({ name }) => name);
}

interface Part {
  readonly log: readonly LogLine[];
  readonly requests: readonly ModelRequest[];
  readonly ids: readonly string[];
}

function traceOf(turn: LogLine, happened: Happened, { log, requests, ids }: Part): ExpectedTrace {
  const final = log.find(({ kind }) => kind === 'final');
  const calls = callsOf(log, requests, happened.passing);
  const sum = (kind: 'input' | 'output'): number => requests.reduce((all, { used }) => all + used[kind], 0);
  const agents = [...new Set(requests.map(({ agent }) => agent))].filter((agent) => agent !== root);
  return {
    agent_name: root,
    session_id: turn.session ?? null,
    otlp_trace_id: ids.length === 1 ? (ids[0] ?? null) : null,
    ...(ids.length > 1 ? { split_over_otlp_traces: ids } : {}),
    input: turn.input ?? null,
    final_response: final?.text ?? null,
    ...(final === undefined ? { status: 'error' as const } : {}),
    tool_calls: calls.filter(({ agent }) => agent === root).map(({ call }) => call),
    tools: [...happened.tools(root)],
    llm_calls: requests.length,
    tokens: { input: sum('input'), output: sum('output') },
    ...(happened.model === null ? {} : { model: happened.model }),
    system_prompt: happened.prompts[root] ?? '',
    sub_agents: agents.map((agent) => ({
      agent_name: agent,
      via: happened.passing?.via ?? 'child_span',
      via_tool: happened.passing?.name ?? null,
      input: null,
      final_response: requests.findLast((request) => request.agent === agent)?.answer.text ?? null,
      tool_calls: calls.filter((one) => one.agent === agent).map(({ call }) => call),
      tools: [...happened.tools(agent)],
    })),
  };
}

/** The two agents as separate runs. */
function apart(
  whole: ExpectedTrace,
  requests: readonly ModelRequest[],
  ids: readonly string[],
  { passing, prompts }: Happened,
): readonly ExpectedTrace[] {
  const {
    split_over_otlp_traces: _split,
    sub_agents: [second],
    ...rest
  } = whole;
  if (second === undefined || ids.length !== 2) throw new Error('two agents in two traces are expected');
  const counted = (agent: string | null): Pick<ExpectedTrace, 'llm_calls' | 'tokens'> => {
    const own = requests.filter((request) => request.agent === agent).map(({ used }) => used);
    return {
      llm_calls: own.length,
      tokens: { input: own.reduce((sum, { input }) => sum + input, 0), output: own.reduce((sum, { output }) => sum + output, 0) },
    };
  };
  const [input = null] = Object.values(passing?.arguments ?? {}) as readonly string[];
  return [
    { ...rest, ...counted(rest.agent_name), otlp_trace_id: ids[0] ?? null, sub_agents: [] },
    {
      ...rest,
      ...counted(second.agent_name),
      agent_name: second.agent_name,
      otlp_trace_id: ids[1] ?? null,
      input,
      final_response: requests.findLast(({ agent }) => agent === second.agent_name)?.answer.text ?? null,
      tool_calls: second.tool_calls,
      tools: second.tools,
      system_prompt: prompts[second.agent_name] ?? '',
      sub_agents: [],
    },
  ];
}

interface CallOfAgent {
  readonly agent: string;
  readonly at: number;
  readonly call: ExpectedCall;
}

/** The log's calls, in order of start, with the ids under which the model asked for them. */
function callsOf(log: readonly LogLine[], requests: readonly ModelRequest[], passing: Passing | undefined): readonly CallOfAgent[] {
  const asked = requests.flatMap(({ agent, at, answer }, group) =>
    (answer.calls ?? []).map((call) => ({ agent, at, group, call, isParallel: (answer.calls ?? []).length > 1 })),
  );
  const left = new Set(asked);
  const calls: CallOfAgent[] = [];
  for (const line of log.filter(({ kind }) => kind === 'call')) {
    const match = [...left].find(
      ({ agent, call }) => agent === line.agent && call.name === line.name && isEqual(call.arguments, line.arguments),
    );
    if (match === undefined) throw new Error(`the model did not ask for ${JSON.stringify(line)}`);
    left.delete(match);
    const saw = toldOf(match.call.id, requests);
    const isResultReported = saw === undefined || line.error !== undefined || isEqual(saw, line.result);
    calls.push({
      agent: match.agent,
      at: line.at,
      call: {
        id: match.call.id,
        name: match.call.name,
        arguments: line.arguments,
        ...(line.error === undefined ? { result: line.result } : { error: line.error }),
        ...(isResultReported ? {} : { result_as_the_model_saw_it: saw }),
        ...(match.isParallel ? { parallel_group: match.group + 1 } : {}),
      },
    });
  }
  for (const { agent, at, call } of left) {
    if (call.isFinal === true) {
      calls.push({ agent, at, call: { id: call.id, name: call.name, arguments: call.arguments, framework_internal: true } });
      continue;
    }
    if (call.pass !== true || passing === undefined) throw new Error(`nothing ran ${JSON.stringify(call)}`);
    calls.push({ agent, at, call: passingCall(call, requests, passing) });
  }
  return calls.sort((a, b) => a.at - b.at);
}

function toldOf(id: string, requests: readonly ModelRequest[]): unknown {
  return requests.map(({ told }) => told.get(id)).find((told) => told !== undefined);
}

/** A hand-over ran no code of the user. For an agent that the framework calls as a tool, the model's next request has the result. */
function passingCall(call: ScriptedCall, requests: readonly ModelRequest[], passing: Passing): ExpectedCall {
  const base = { id: call.id, name: call.name, arguments: call.arguments };
  if (passing.via === 'handoff') return { ...base, framework_internal: true };
  const told = toldOf(call.id, requests);
  return {
    ...base,
    ...(told === undefined || passing.isResultUnknown === true
      ? {}
      : { result: typeof told === 'string' ? (parseJson(told) ?? told) : told }),
  };
}
