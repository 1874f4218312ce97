/**
 * The names that we put on the wire. `gen_ai.evaluation.*` as the OpenTelemetry GenAI conventions define them (event
 * `gen_ai.evaluation.result`, since 1.38); what they lack is ours, under `tracejury.*`. No other file spells these names.
 */
export const wire = {
  evaluationEvent: 'gen_ai.evaluation.result',
  evaluationName: 'gen_ai.evaluation.name',
  scoreValue: 'gen_ai.evaluation.score.value',
  scoreLabel: 'gen_ai.evaluation.score.label',
  explanation: 'gen_ai.evaluation.explanation',
  errorType: 'error.type',
  agentName: 'gen_ai.agent.name',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  toolName: 'gen_ai.tool.name',
  tokenType: 'gen_ai.token.type',
  serviceName: 'service.name',
  serviceVersion: 'service.version',
  environment: 'deployment.environment.name',
  /** As the conventions called it until 1.27. */
  environmentBefore: 'deployment.environment',
  sessionId: 'session.id',

  /** True on every span and record that we make: such spans are left alone when they come back in. */
  generated: 'tracejury.generated',
  /** Of a result on a log record, 32 hex digits: the same for every revision; of a part, with its place behind a slash. */
  evaluationId: 'tracejury.evaluation.id',
  /** True: what earlier revisions said under this id holds no longer, and nothing takes its place. */
  withdrawn: 'tracejury.withdrawn',
  evaluatorId: 'tracejury.evaluator.id',
  evaluatorKind: 'tracejury.evaluator.kind',
  evaluatorVersion: 'tracejury.evaluator.version',
  revision: 'tracejury.revision',
  decision: 'tracejury.decision',
  decisionReason: 'tracejury.decision.reason',
  /** On the spans of calls to judges: name of the judge's entry, id of the question within its evaluator, and how often the request was sent. */
  judge: 'tracejury.judge',
  judgeQuestion: 'tracejury.judge.question',
  judgeAttempts: 'tracejury.judge.attempts',
  /** The batch in which it went, as the endpoint names it. */
  judgeBatch: 'tracejury.judge.batch',
  /** On a carrier: the span of the verdict in the trace of what judges were asked. */
  judgeTraceId: 'tracejury.judge.trace_id',
  judgeSpanId: 'tracejury.judge.span_id',
  /** An event on such a span: a sending in vain, with its number. */
  judgeRetry: 'tracejury.judge.retry',
  judgeAttempt: 'tracejury.judge.attempt',
  /** Answers of a verdict that were known before, so that nobody was asked; and calls that are not told one by one. */
  judgeCached: 'tracejury.judge.cached',
  judgeCallsLeftOut: 'tracejury.judge.calls.left_out',
  /** On a result of others: `human`, `user` or `evaluator`, and an opaque id. */
  annotatorKind: 'tracejury.annotator.kind',
  annotatorId: 'tracejury.annotator.id',
  /** On spans of the service itself: seconds between the close of a run and the first question to a judge; whether judges were asked; sizes. */
  judgeWait: 'tracejury.judge.wait',
  judgesAsked: 'tracejury.judges.asked',
  requestBytes: 'tracejury.request.bytes',
  requestItems: 'tracejury.request.items',
  /** Spans or records of the trace that the span is about. */
  traceItems: 'tracejury.request.trace_items',
  batchRuns: 'tracejury.batch.runs',
  exporter: 'tracejury.exporter',
  threshold: 'tracejury.threshold',
  passed: 'tracejury.passed',
  sampleProbability: 'tracejury.sample.probability',
  completeness: 'tracejury.completeness',
  task: 'tracejury.task',
  verdict: 'tracejury.verdict',
  failedNames: 'tracejury.failed',
  replaces: 'tracejury.replaces',
  /** On the last carrier of a run that turned out to be part of another one: the key of that one. */
  partOf: 'tracejury.part_of',
  /** How many results a carrier span has no room for. */
  resultsLeftOut: 'tracejury.results.left_out',
  tenant: 'tracejury.tenant',
  targetSpanId: 'tracejury.target.span_id',
  targetTool: 'tracejury.target.tool',
  targetCallId: 'tracejury.target.call_id',
  targetService: 'tracejury.target.service.name',
  targetAgent: 'tracejury.target.agent.name',
  /** Followed by the configured evaluator name; a number, for backends that search attributes only. */
  scorePrefix: 'tracejury.score.',
  /** What is expected of the run, as JSON; on a span or resource. */
  expected: 'tracejury.expected',
  exampleId: 'tracejury.example.id',
  experimentId: 'tracejury.experiment.id',

  /** OpenInference annotations on a carrier span: `evaluations.N.evaluation.*` of the span that it links to. */
  openInferenceKind: 'openinference.span.kind',
  openInferenceProject: 'openinference.project.name',
  annotationPrefix: 'evaluations.',
  sessionAnnotationPrefix: 'session.evaluations.',
  /** Behind the number, and before the name of a field. */
  annotationForm: '.evaluation',
  annotationName: '.name',
  annotationScore: '.score',
  annotationLabel: '.label',
  annotationExplanation: '.explanation',
  annotationKind: '.annotator_kind',
  annotationIdentifier: '.identifier',
  annotationMetadata: '.metadata',
  /** Before all of it, of what is said of a whole trace. */
  annotationOfTrace: 'trace.',
} as const;

/** What stands before the field in a key of OpenInference's annotations, in either of its two forms; none of a session's. */
export const annotationHead = /^(?:trace\.)?(?:evaluations\.\d{1,6}\.evaluation|annotations\.\d{1,6}\.annotation)(?=\.)/;
