/** What becomes of each member of a run. */
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
import { json, jsonObject, kept, list, members, nullable, text, type Change } from './field-rules.ts';
import type { RunDecision } from '../model/scored-run.ts';
import type { Evaluation, EvaluationKey, PartVerdict, Verdict } from '../model/verdict.ts';

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
  spanId: kept,
  startUnixNano: kept,
  endUnixNano: kept,
  turn: kept,
  provenance: kept,
  metadata: jsonObject,
});

const toolDefinition = members<ToolDefinition>({ name: text, description: text, inputSchema: json, truncated: kept });

const message = members<TraceMessage>({ role: text, text, calls: kept });

const modelCall = members<ModelCall>({
  spanId: kept,
  model: text,
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
  startUnixNano: kept,
  endUnixNano: kept,
  status: kept,
  errorMessage: text,
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
  service: text,
  serviceVersion: text,
  resourceAttributes: jsonObject,
  // A part of it would be no tracestate any more.
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

/** Words of ours, which dashboards count by. */
const ownLabels: ReadonlySet<string> = new Set(['pass', 'fail']);

const part = members<PartVerdict>({ index: kept, tool: text, callId: text, spanId: kept, score: kept, passed: kept, explanation: text });

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

/** The id of a run is made of those of a trace and a span; other targets have ids of the traffic. */
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
});

export const changedDecision: Change<RunDecision> = members<RunDecision>({
  name: kept,
  evaluator: kept,
  evaluatorKind: kept,
  decision: kept,
  reason: text,
  probability: kept,
});
