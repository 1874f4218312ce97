/**
 * The redaction of runs and verdicts, member by member. Every member declares its change, so a new member does not compile without one.
 */
import type {
  AgentTrace,
  ModelCall,
  RetrievedDocument,
  Run,
  SessionSoFar,
  SubAgent,
  ToolCall,
  ToolDefinition,
  ToolError,
  TraceMessage,
} from '../model/agent-trace.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.ts';
import type { RunDecision } from '../model/scored-run.ts';
import type { Evaluation, EvaluationKey, PartVerdict, Verdict } from '../model/verdict.ts';
import type { Search } from './search.ts';

type Change<Value> = (value: Value, search: Search) => Value;

const text: Change<string> = (value, search) => search.text(value);
const json: Change<JsonValue> = (value, search) => search.json(value);
const jsonObject: Change<JsonObject> = (value, search) => {
  const changed = search.json(value);
  return isJsonObject(changed) ? changed : {};
};

/** Keeps values that are not free text: ids, times, counts, fixed words. */
function kept<Value>(value: Value): Value {
  return value;
}

function nullable<Value>(change: Change<Value>): Change<Value | null> {
  return (value, search) => (value === null ? null : change(value, search));
}

function list<Value>(change: Change<Value>): Change<readonly Value[]> {
  return (values, search) => {
    const changed = values.map((value) => change(value, search));
    return changed.every((value, at) => value === values[at]) ? values : changed;
  };
}

type Changes<Value> = { readonly [Field in keyof Value]-?: Change<Exclude<Value[Field], undefined>> };

/** Applies the changes of all members; returns the same record when nothing changes, and drops undeclared members. */
function members<Value extends object>(changes: Changes<Value>): Change<Value> {
  const byName = new Map(Object.entries<unknown>(changes)) as ReadonlyMap<string, Change<unknown>>;
  return (value, search) => {
    const before = Object.entries<unknown>(value as { readonly [name: string]: unknown });
    const after = before.flatMap(([name, item]) => {
      const change = byName.get(name);
      return change === undefined ? [] : [[name, item === undefined ? undefined : change(item, search)] as const];
    });
    const unchanged = after.length === before.length && after.every(([, item], at) => item === before[at]?.[1]);
    return unchanged ? value : (Object.fromEntries(after) as Value);
  };
}

const toolCall = members<ToolCall>({
  name: text,
  id: text,
  toolId: text,
  arguments: nullable(jsonObject),
  argumentsText: text,
  result: json,
  truncated: members<NonNullable<ToolCall['truncated']>>({ arguments: text, result: text }),
  error: members<ToolError>({ message: text, type: text, sign: kept }),
  statedOk: kept,
  executed: kept,
  byProvider: kept,
  hold: kept,
  spanId: kept,
  startUnixNano: kept,
  endUnixNano: kept,
  turn: kept,
  provenance: kept,
  metadata: jsonObject,
});

const toolDefinition = members<ToolDefinition>({
  name: text,
  description: text,
  inputSchema: json,
  strict: kept,
  open: kept,
  truncated: kept,
});

const message = members<TraceMessage>({ role: text, text, calls: kept });

const modelCall = members<ModelCall>({
  spanId: kept,
  model: text,
  requests: kept,
  inputTokens: kept,
  outputTokens: kept,
  cachedInputTokens: kept,
  reasoningTokens: kept,
  toldCost: kept,
  failed: kept,
  startUnixNano: kept,
  endUnixNano: kept,
});

const document = members<RetrievedDocument>({ spanId: kept, id: text, content: text, score: kept });

const subAgent = members<SubAgent>({ traceId: kept, spanId: kept, agent: text, via: kept, viaTool: text });

const agentTrace = members<AgentTrace>({
  agent: text,
  input: text,
  finalResponse: json,
  systemPrompt: text,
  model: text,
  sessionId: text,
  userId: text,
  startUnixNano: kept,
  endUnixNano: kept,
  status: kept,
  errorMessage: text,
  errorType: text,
  errorSpanId: kept,
  toolCalls: list(toolCall),
  toolDefinitions: list(toolDefinition),
  modelCalls: list(modelCall),
  documents: list(document),
  messages: list(message),
  reasoningSteps: list(text),
  subAgents: list(subAgent),
  tokens: kept,
  tasks: list(text),
  constraints: text,
  toolCallsCarried: kept,
  truncated: kept,
});

export const changedRun: Change<Run> = members<Run>({
  tenant: kept,
  traceId: kept,
  spanId: kept,
  trace: agentTrace,
  dialects: kept,
  configuredDialect: kept,
  evidence: kept,
  service: text,
  serviceVersion: text,
  resourceAttributes: jsonObject,
  // A shortened tracestate would be invalid.
  traceState: (value, search) => (search.text(value) === value ? value : ''),
  parent: kept,
  partOf: kept,
  session: members<SessionSoFar>({ revision: kept, turns: kept, leftOut: kept, earlier: list(agentTrace) }),
  spanTraceId: kept,
  startUnixNano: kept,
  endUnixNano: kept,
  completeness: kept,
  revision: kept,
  contentHash: kept,
  expected: json,
});

type Scored = Extract<Verdict, { readonly kind: 'scored' }>;

/** Labels that dashboards count by. */
const ownLabels: ReadonlySet<string> = new Set(['pass', 'fail']);

const part = members<PartVerdict>({
  of: kept,
  index: kept,
  tool: text,
  callId: text,
  spanId: kept,
  score: kept,
  passed: kept,
  explanation: text,
});

const scored = members<Scored>({
  kind: kept,
  score: kept,
  threshold: kept,
  passed: kept,
  label: (label, search) => (ownLabels.has(label) ? label : search.text(label)),
  explanation: text,
  evidence: kept,
  parts: list(part),
  details: jsonObject,
});
const skipped = members<Extract<Verdict, { readonly kind: 'skipped' }>>({
  kind: kept,
  reason: kept,
  explanation: text,
  details: jsonObject,
});
const failed = members<Extract<Verdict, { readonly kind: 'failed' }>>({ kind: kept, error: text, explanation: text, details: jsonObject });

export const changedVerdict: Change<Verdict> = (verdict, search) => {
  if (verdict.kind === 'scored') return scored(verdict, search);
  return verdict.kind === 'skipped' ? skipped(verdict, search) : failed(verdict, search);
};

/** A run's target id consists of a trace id and a span id. Other target ids come from the traffic. */
const key: Change<EvaluationKey> = (value, search) =>
  value.targetKind === 'run' ? value : { ...value, targetId: search.text(value.targetId) };

export const changedEvaluation: Change<Evaluation> = members<Evaluation>({
  key,
  run: kept,
  evaluator: kept,
  evaluatorKind: kept,
  evaluatorVersion: kept,
  guard: kept,
  optionsHash: kept,
  revision: kept,
  completeness: kept,
  verdict: changedVerdict,
  sampleProbability: kept,
  raisedBy: kept,
  upstream: kept,
});

export const changedDecision: Change<RunDecision> = members<RunDecision>({
  name: kept,
  evaluator: kept,
  evaluatorKind: kept,
  decision: kept,
  reason: text,
  probability: kept,
});

/** Limits of the remembered originals and of the UTF-16 units of each; evaluators cut texts earlier. */
const originalsMax = 1_000;
const charsMax = 500;
/** A shorter prefix reveals nothing. */
const beginningCharsMin = 4;
/** Ends a text that evaluators cut. */
const CUT = '…';
/** Limit of cuts in a text; a text with more is given up. */
const cutsMax = 100;

interface Originals {
  add(original: string, replacement: string): void;
  /** The text without prefixes of originals before a cut; `undefined` when the text was not searched. */
  withoutBeginnings(text: string): string | undefined;
}

/** Remembers what was removed from a run, so that a verdict cannot reveal the beginning of it in a quote that was cut. */
export function originals(): Originals {
  const known = new Map<string, string>();
  return {
    add(original, replacement) {
      for (const form of formsOf(original.slice(0, charsMax))) if (known.size < originalsMax) known.set(form, replacement);
    },
    withoutBeginnings(text) {
      if (known.size === 0 || !text.includes(CUT)) return text;
      const pieces = text.split(CUT);
      if (pieces.length > cutsMax) return undefined;
      return pieces.map((piece, at) => (at < pieces.length - 1 ? withoutEnd(piece, known) : piece)).join(CUT);
    },
  };
}

/** The original unchanged, on one line, and as JSON. */
function formsOf(original: string): readonly string[] {
  return [...new Set([original, original.replaceAll(/\s+/g, ' '), JSON.stringify(original).slice(1, -1)])].filter(
    (form) => form.length >= beginningCharsMin,
  );
}

/** Replaces the longest prefix of an original at the end of a piece before a cut. */
function withoutEnd(piece: string, known: ReadonlyMap<string, string>): string {
  const tail = piece.slice(-charsMax);
  let best = { from: tail.length, replacement: '' };
  for (const [original, replacement] of known) {
    const head = original.slice(0, beginningCharsMin);
    for (let from = tail.indexOf(head); from >= 0 && from < best.from; from = tail.indexOf(head, from + 1)) {
      if (original.startsWith(tail.slice(from))) best = { from, replacement };
    }
  }
  return best.from === tail.length ? piece : piece.slice(0, piece.length - tail.length + best.from) + best.replacement;
}
