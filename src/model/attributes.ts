/**
 * The attribute names that the service writes: `gen_ai.evaluation.*` as the OpenTelemetry GenAI conventions define them (event
 * `gen_ai.evaluation.result`, since 1.38), and `tracejury.*` for the rest. No other file spells these names.
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
  /** Its name in the conventions until 1.27. */
  environmentBefore: 'deployment.environment',
  sessionId: 'session.id',

  /** True on every span and record of the service, which ignores them when they come back in. */
  generated: 'tracejury.generated',
  /** On a log record: 32 hex digits, the same for every revision; a part appends a slash and its index. */
  evaluationId: 'tracejury.evaluation.id',
  /** `true` withdraws what earlier revisions reported under this id. */
  withdrawn: 'tracejury.withdrawn',
  evaluatorId: 'tracejury.evaluator.id',
  evaluatorKind: 'tracejury.evaluator.kind',
  evaluatorVersion: 'tracejury.evaluator.version',
  revision: 'tracejury.revision',
  decision: 'tracejury.decision',
  decisionReason: 'tracejury.decision.reason',
  /** On spans of judge calls: name of the judge's entry, id of the question within its evaluator, and number of attempts. */
  judge: 'tracejury.judge',
  judgeQuestion: 'tracejury.judge.question',
  judgeAttempts: 'tracejury.judge.attempts',
  /** Id of the batch, as the endpoint names it. */
  judgeBatch: 'tracejury.judge.batch',
  /** On an evaluation span: the span of the verdict in the judge trace. */
  judgeTraceId: 'tracejury.judge.trace_id',
  judgeSpanId: 'tracejury.judge.span_id',
  /** An event on the span of a judge call: a failed attempt, with its number. */
  judgeRetry: 'tracejury.judge.retry',
  judgeAttempt: 'tracejury.judge.attempt',
  /** Number of cached answers in a verdict, and of calls without a span. */
  judgeCached: 'tracejury.judge.cached',
  judgeCallsLeftOut: 'tracejury.judge.calls.left_out',
  /** On a result from outside: `human`, `user` or `evaluator`, and an opaque id. */
  annotatorKind: 'tracejury.annotator.kind',
  annotatorId: 'tracejury.annotator.id',
  /** On the service's own spans: seconds from the close of a run to its first judge question; whether judges were asked; sizes. */
  judgeWait: 'tracejury.judge.wait',
  judgesAsked: 'tracejury.judges.asked',
  requestBytes: 'tracejury.request.bytes',
  requestItems: 'tracejury.request.items',
  /** Number of spans or records of the trace. */
  traceItems: 'tracejury.request.trace_items',
  batchRuns: 'tracejury.batch.runs',
  exporter: 'tracejury.exporter',
  threshold: 'tracejury.threshold',
  passed: 'tracejury.passed',
  sampleProbability: 'tracejury.sample.probability',
  completeness: 'tracejury.completeness',
  runStatus: 'tracejury.run.status',
  task: 'tracejury.task',
  verdict: 'tracejury.verdict',
  failedNames: 'tracejury.failed',
  replaces: 'tracejury.replaces',
  /** On the last evaluation span of a run that belongs to another one: the key of that run. */
  partOf: 'tracejury.part_of',
  /** Number of results beyond the limit of an evaluation span. */
  resultsLeftOut: 'tracejury.results.left_out',
  tenant: 'tracejury.tenant',
  targetSpanId: 'tracejury.target.span_id',
  targetTool: 'tracejury.target.tool',
  /** `retriever`, `sub_agent` or `model_call`, where the target is not a tool call. */
  targetPart: 'tracejury.target.part',
  targetCallId: 'tracejury.target.call_id',
  targetService: 'tracejury.target.service.name',
  targetVersion: 'tracejury.target.service.version',
  targetAgent: 'tracejury.target.agent.name',
  /** Followed by the configured evaluator name; a number, for backends that search attributes only. */
  scorePrefix: 'tracejury.score.',
  /** The expectation as JSON, on a span or resource. */
  expected: 'tracejury.expected',
  exampleId: 'tracejury.example.id',
  /** Number of the run of the example, from 1. */
  exampleRepeat: 'tracejury.example.repeat',
  experimentId: 'tracejury.experiment.id',
  /** The stored dataset that the examples of an experiment are in. */
  datasetName: 'tracejury.dataset.name',
  /** Defaults to the newest version when the experiment begins. */
  datasetVersion: 'tracejury.dataset.version',

  /** OpenInference annotations on an evaluation span: `evaluations.N.evaluation.*` for the linked span. */
  openInferenceKind: 'openinference.span.kind',
  openInferenceProject: 'openinference.project.name',
  annotationPrefix: 'evaluations.',
  sessionAnnotationPrefix: 'session.evaluations.',
  /** Between the number and the name of a field. */
  annotationForm: '.evaluation',
  annotationName: '.name',
  annotationScore: '.score',
  annotationLabel: '.label',
  annotationExplanation: '.explanation',
  annotationKind: '.annotator_kind',
  annotationIdentifier: '.identifier',
  annotationMetadata: '.metadata',
  /** Prefix of annotations on a whole trace. */
  annotationOfTrace: 'trace.',
} as const;

/** The prefix of an OpenInference annotation key in either form, except for sessions. */
export const annotationHead = /^(?:trace\.)?(?:evaluations\.\d{1,6}\.evaluation|annotations\.\d{1,6}\.annotation)(?=\.)/;
