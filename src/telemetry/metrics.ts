/** Every metric of the service: name, kind, unit, labels, meaning. The metrics page, the reference and the tests read this table. */

interface MetricRow {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** A UCUM unit, as in OpenTelemetry. */
  readonly unit: string;
  readonly labels: readonly string[];
  readonly meaning: string;
  /** Upper edges, inclusive. Histograms only. */
  readonly buckets?: readonly number[];
}

/** The first bucket holds exact zeros only; the last one holds 1 and near misses. */
const scoreBuckets = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1] as const;
/** A sync takes a fraction of a millisecond on a good disk. */
const syncBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
/** Labels whose values come from foreign spans. They fold first beyond the bound of a metric, so that other labels keep their values. */
export const foreignLabels: ReadonlySet<string> = new Set(['gen_ai.agent.name', 'tracejury.target.service.name', 'gen_ai.tool.name']);
/** The version of an agent. It folds before all other labels, as an agent has one more with each release. */
export const versionLabel = 'tracejury.target.service.version';

/** Foreign labels of many metrics: each combination of values of `within` has its own bound. */
export const boundedLabels: readonly BoundedLabel[] = [
  { label: 'gen_ai.agent.name', within: ['tracejury.tenant'], bound: 'agents' },
  { label: 'tracejury.target.service.name', within: ['tracejury.tenant'], bound: 'agents' },
  { label: versionLabel, within: ['tracejury.tenant', 'gen_ai.agent.name'], bound: 'versions' },
];

/** A tool call takes milliseconds, a run minutes. */
const runBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600] as const;
const agent = ['gen_ai.agent.name', 'tracejury.target.service.name'] as const;
const agentVersion = [...agent, versionLabel] as const;
const group = ['tracejury.tenant', 'gen_ai.agent.name', 'tracejury.task'] as const;
const drift = ['gen_ai.evaluation.name', 'tracejury.judge', 'gen_ai.request.model'] as const;
const budget = ['tracejury.judge', 'gen_ai.evaluation.name', 'tracejury.budget'] as const;
const rate = ['gen_ai.evaluation.name', 'gen_ai.agent.name', 'tracejury.tenant'] as const;
const target = [
  'gen_ai.evaluation.name',
  'gen_ai.agent.name',
  'tracejury.evaluator.kind',
  'tracejury.target.service.name',
  versionLabel,
  'tracejury.tenant',
] as const;

const counter = (unit: string, ...labels: readonly string[]) => ({ kind: 'counter', unit, labels }) as const;
const gauge = (unit: string, ...labels: readonly string[]) => ({ kind: 'gauge', unit, labels }) as const;
const histogram = (unit: string, buckets: readonly number[], ...labels: readonly string[]) =>
  ({ kind: 'histogram', unit, buckets, labels }) as const;

export const metrics = {
  'tracejury.evaluation.score': {
    ...histogram('1', scoreBuckets, ...target),
    meaning: 'Scores of the first verdict of each run and evaluator.',
  },
  'tracejury.evaluation.results': {
    ...counter('{result}', ...target, 'gen_ai.evaluation.score.label', 'error.type'),
    meaning: 'Verdicts by label: pass, fail, an evaluator’s own label, skipped or error.',
  },
  'tracejury.evaluation.duration': {
    ...histogram('s', durationBuckets, 'gen_ai.evaluation.name', 'tracejury.evaluator.kind', 'error.type'),
    meaning: 'Time to reach a verdict.',
  },
  'tracejury.evaluation.tokens': {
    ...counter('{token}', 'gen_ai.evaluation.name', 'tracejury.judge', 'gen_ai.agent.name', 'gen_ai.token.type', 'gen_ai.request.model'),
    meaning: 'Tokens that judges used.',
  },
  'tracejury.evaluation.cost': {
    ...counter('{USD}', 'gen_ai.evaluation.name', 'tracejury.judge', 'gen_ai.agent.name', 'gen_ai.request.model'),
    meaning: 'US dollars that the tokens of judges with a price cost.',
  },
  'tracejury.evaluation.revisions': {
    ...counter('{revision}', 'gen_ai.evaluation.name', 'tracejury.change'),
    meaning: 'Verdicts of later revisions of a run, by whether they changed.',
  },
  'tracejury.decisions': {
    ...counter('{decision}', 'gen_ai.evaluation.name', 'tracejury.decision', 'tracejury.reason', 'tracejury.tenant'),
    meaning: 'Pairs of run and evaluator, by how they ended.',
  },
  'tracejury.sampling.raised': {
    ...counter('{run}'),
    meaning: 'Runs whose tracestate claims a share below limits.upstream_probability. They count with that limit.',
  },
  'tracejury.evaluability': {
    ...counter(
      '{attempt}',
      'gen_ai.agent.name',
      'tracejury.dialect',
      'gen_ai.evaluation.name',
      'tracejury.outcome',
      'tracejury.reason',
      'tracejury.need',
    ),
    meaning: 'Evaluators that read the first revision of a run, by whether they could score it and what it lacked.',
  },
  'tracejury.runs': {
    ...counter('{run}', ...agentVersion, 'tracejury.completeness', 'tracejury.run.status', 'tracejury.tenant'),
    meaning:
      'Runs closed, first revisions only. The status is ok, error (the run ended in one) or paused (it waits for a person or another program).',
  },
  'tracejury.run.duration': {
    ...histogram('s', runBuckets, ...agentVersion),
    meaning: 'Time from the start to the end of a run, first revisions only. The exemplar of a bucket is a run that ended in an error.',
  },
  'tracejury.agent.tool_calls': {
    ...counter('{call}', ...agentVersion, 'gen_ai.tool.name', 'tracejury.outcome'),
    meaning:
      'Tool calls of agents by outcome: returned, failed, waiting (for a person or another program), refused (by a person), or not_executed. failed: the span states it, or the result reads as an error that the status of the span does not outweigh. not_executed: a model asked for the call, and nothing shows that it ran. First revisions only.',
  },
  'tracejury.agent.tool_call.duration': {
    ...histogram('s', durationBuckets, 'gen_ai.agent.name', 'gen_ai.tool.name'),
    meaning: 'Time of tool calls with times on their spans, first revisions only. The exemplar of a bucket is a failed call.',
  },
  'tracejury.agent.tokens': {
    ...counter('{token}', ...agentVersion, 'gen_ai.request.model', 'gen_ai.token.type'),
    meaning: 'Input and output tokens of the model calls of agents whose spans have them. First revisions only.',
  },
  'tracejury.agent.cost': {
    ...counter('{USD}', ...agentVersion, 'gen_ai.request.model'),
    meaning:
      'US dollars that the model calls of agents cost by the table `prices`, first revisions only. Calls of unknown cost are not in it.',
  },
  'tracejury.agent.model_calls': {
    ...counter('{call}', ...agent, 'gen_ai.request.model', 'tracejury.outcome'),
    meaning:
      'Model calls of agents by whether their cost is known: priced, no_price (the model has none), no_tokens (the spans lack a number). Counted when there are prices.',
  },
  'tracejury.convergence': {
    ...gauge('1', ...group),
    meaning:
      'Mean of least steps / own steps over the last runs of a task, from two runs on. A failed run counts 0. Tasks without their own labels count together as other.',
  },
  'tracejury.convergence.optimal': { ...gauge('1', ...group), meaning: 'Share of the last runs of a task that took the shortest way.' },
  'tracejury.convergence.runs': { ...gauge('{run}', ...group), meaning: 'Runs of a task behind tracejury.convergence.' },
  'tracejury.tasks': { ...gauge('{task}'), meaning: 'Pairs of agent and task whose last runs the service keeps.' },
  'tracejury.tasks.forgotten': {
    ...counter('{task}'),
    meaning: 'Pairs of agent and task that the service dropped to stay within groups.tasks.',
  },
  'tracejury.tasks.runs': {
    ...counter('{run}', 'tracejury.outcome'),
    meaning:
      'Revisions of runs, by whether they were compared with others of their task or why not: no_task, not_complete, paused, tool_calls_not_carried, no_verdict.',
  },
  'tracejury.processes': {
    ...gauge('{process}', 'tracejury.state'),
    meaning: 'Versions of agents whose normal process the service holds in memory, by whether it learns more: learning, frozen.',
  },
  'tracejury.process.runs': {
    ...counter('{run}', 'tracejury.outcome'),
    meaning:
      'Runs by whether the service learnt from them: learnt, or frozen, not_passing, not_complete, later_revision, tool_calls_not_carried, too_large, forgotten.',
  },
  'tracejury.runs.joined': { ...counter('{run}'), meaning: 'Closed runs that proved to be part of another run.' },
  'tracejury.traces.joined': {
    ...counter('{trace}', 'tracejury.reason'),
    meaning: 'Traces that became part of the run of another trace, by their tie: link, or content.',
  },
  'tracejury.traces.handed_over': {
    ...counter('{trace}'),
    meaning: 'Parts of traces that went to the replica that joins the traces of their tenant, as they may be parts of one run.',
  },
  'tracejury.traces.unclaimed': {
    ...counter('{trace}'),
    meaning: 'Linked traces that were not claimed, because the topic took no record for ten minutes or too many claims waited.',
  },
  'tracejury.traces.not_joined': {
    ...counter('{trace}', 'tracejury.reason'),
    meaning: 'Traces that belong to the run of another trace and stay separate because of a bound.',
  },
  'tracejury.traces.dropped': {
    ...counter('{trace}', 'tracejury.reason'),
    meaning: 'Traces that closed without a run: they have no agent, model or tool span.',
  },
  'tracejury.spans.late': {
    ...counter('{span}', 'tracejury.reason'),
    meaning:
      'Spans that came after their trace was closed. after_close: they may make a new revision. after_late: they came too late. not_kept: the spans before them are not stored.',
  },
  'tracejury.spans.own': { ...counter('{span}'), meaning: 'Spans of the service that a backend sent back; the service ignores them.' },
  'tracejury.spans.duplicate': { ...counter('{span}'), meaning: 'Spans that the service had already.' },
  'tracejury.spans.over_limit': { ...counter('{span}'), meaning: 'Spans beyond limits.spans_per_trace.' },
  'tracejury.runs.beyond_limit': {
    ...counter('{run}', 'tracejury.limit'),
    meaning:
      'Runs that a reader left partly unread, by bound: keys_per_field, key_length, flattened, messages, definitions, documents, text.',
  },
  'tracejury.services.unrecognised': {
    ...gauge('{scope}'),
    meaning:
      'Services and scopes whose spans hold no agent, model call or tool call that a collector reads; the log and `/api/v1/evaluability` name them.',
  },
  'tracejury.open.traces': { ...gauge('{trace}'), meaning: 'Open traces.' },
  'tracejury.open.bytes': { ...gauge('By'), meaning: 'Bytes of the spans of open traces, and of closed ones that wait for late spans.' },
  'tracejury.receiver.requests': {
    ...counter('{request}', 'tracejury.transport', 'tracejury.signal', 'tracejury.status', 'tracejury.reason'),
    meaning: 'Answered requests, by HTTP status or gRPC code; refused ones with the reason.',
  },
  'tracejury.receiver.empty': {
    ...counter('{request}', 'tracejury.signal'),
    meaning: 'Accepted requests without anything to keep: empty, or all of it rejected or ignored. The journal does not store them.',
  },
  'tracejury.receiver.spans': {
    ...counter('{span}', 'tracejury.outcome', 'tracejury.reason'),
    meaning: 'Spans received: accepted, or rejected with the reason.',
  },
  'tracejury.receiver.log_records': {
    ...counter('{record}', 'tracejury.outcome', 'tracejury.reason'),
    meaning: 'Log records received: accepted, ignored (no trace id), or rejected with the reason.',
  },
  'tracejury.receiver.connections': {
    ...gauge('{connection}', 'tracejury.transport'),
    meaning: 'Open connections, by listener: http, grpc (both OTLP) and console.',
  },
  'tracejury.receiver.connections_max': {
    ...gauge('{connection}', 'tracejury.transport'),
    meaning: 'Most connections that the listener accepts: by limits.connections and the descriptor limit of the process.',
  },
  'tracejury.receiver.connections_ended': {
    ...counter('{connection}', 'tracejury.transport', 'tracejury.reason'),
    meaning:
      'Connections that the service refused or ended, by reason. over_limit: no room. evicted: an idle one made room for another. no_descriptor: the process has no descriptor left. The other reasons name what the client did or failed to do.',
  },
  'tracejury.own_spans': {
    ...counter('{span}', 'tracejury.outcome'),
    meaning: 'Spans of the service itself: sent, failed (the backend did not take them), or dropped (too many waited).',
  },
  'tracejury.console.busy': {
    ...counter('{request}'),
    meaning: 'Requests to the console that got 503 because other answers took all room.',
  },
  'tracejury.console.runs_read': {
    ...counter('{request}', 'tracejury.outcome'),
    meaning: 'Requests for the spans of one run: cached (they were in memory), or read from the store.',
  },
  'tracejury.console.streams': { ...gauge('{stream}'), meaning: 'Open streams of live runs at the console, of at most 16.' },
  'tracejury.console.sign_ins.refused': {
    ...counter('{sign-in}'),
    meaning: 'Sign-ins to the console that were refused, for an unknown token or after too many failures.',
  },
  'tracejury.mcp.calls': {
    ...counter('{call}', 'tracejury.mcp.tool', 'tracejury.outcome'),
    meaning: 'Calls of tools over MCP at the console: answered, refused (by the API, or for their arguments), or failed.',
  },
  'tracejury.receiver.bytes': {
    ...counter('By', 'tracejury.transport', 'tracejury.signal'),
    meaning: 'Body bytes received, before inflating.',
  },
  'tracejury.receiver.in_flight': { ...gauge('By'), meaning: 'Bytes of requests without an answer.' },
  'tracejury.receiver.held': { ...gauge('{request}'), meaning: 'Requests that wait for room before their bodies are read.' },
  'tracejury.receiver.holds': {
    ...counter('{request}', 'tracejury.outcome'),
    meaning:
      'Requests that found no room at once, by how their wait ended: admitted, refused, gone with their client, or stopped. Without a wait: no_place.',
  },
  'tracejury.stress.level': {
    ...gauge('{level}'),
    meaning: 'Level of load shedding: 0 calm, 1 no questions to judges, 2 no content to the store either, 3 requests are refused.',
  },
  'tracejury.stress.time': {
    ...counter('s', 'tracejury.stress.level'),
    meaning: 'Time at each level: calm, shed_judges, shed_content, refuse.',
  },
  'tracejury.stress.strain': {
    ...gauge('1', 'tracejury.strain'),
    meaning:
      'Pressure on each resource, as a share of its limit. in_flight: bytes of requests. open_traces: their bytes. closing: its lag, of limits.closing_lag. event_loop: its lag, of a second. journal: its used room. store: waiting runs. forward: requests that wait for the target of `forward`. memory: the process, of limits.memory_bytes.',
  },
  'tracejury.stress.refused': {
    ...counter('{request}', 'tracejury.strain'),
    meaning: 'Refused requests that clients may send again, by the highest pressure.',
  },
  'tracejury.stress.shed': {
    ...counter('{item}', 'tracejury.what', 'tracejury.strain'),
    meaning: 'Shed work, by the highest pressure: judge (a question that was not asked), or content (of a run, not stored).',
  },
  'tracejury.process.resident': { ...gauge('By'), meaning: 'Resident memory of the process, of limits.memory_bytes.' },
  'tracejury.journal.records': {
    ...counter('{record}', 'tracejury.record'),
    meaning:
      'Records that the journal made durable, by kind. traces, logs: requests. copy: requests written again. done: notes of finished traces. forwarded: notes of forwarded requests.',
  },
  'tracejury.journal.bytes': { ...counter('By'), meaning: 'Bytes of the journal’s records, with head and padding.' },
  'tracejury.journal.refused': {
    ...counter('{record}', 'tracejury.reason'),
    meaning:
      'Records that the journal refused: full, busy (too many bytes wait for the disk), too_large, failed (the disk), disk_full, stopped.',
  },
  'tracejury.journal.syncs': {
    ...counter('{sync}', 'tracejury.outcome'),
    meaning: 'Groups of records that were synced to the disk: done, or failed.',
  },
  'tracejury.journal.sync.duration': { ...histogram('s', syncBuckets), meaning: 'Time of one sync.' },
  'tracejury.journal.replayed': {
    ...counter('{record}'),
    meaning: 'Requests of an earlier process with open traces, read again at the start.',
  },
  'tracejury.journal.moved': {
    ...counter('{record}'),
    meaning: 'Requests that the journal wrote again because one of their runs stayed open for long.',
  },
  'tracejury.journal.used': {
    ...gauge('By'),
    meaning: 'Bytes of the journal in use, of limits.journal_bytes.',
  },
  'tracejury.journal.torn': {
    ...counter('{tail}'),
    meaning: 'Ends of the journal that a crash left incomplete, cut off at the start. They held nothing acknowledged.',
  },
  'tracejury.journal.corrupt': {
    ...counter('{part}'),
    meaning: 'Damaged parts of the journal that were skipped. Records in them are lost.',
  },
  'tracejury.journal.damaged': {
    ...counter('{segment}', 'tracejury.outcome'),
    meaning: 'Damaged segments of the journal: kept as .damaged, or not_kept because the disk refuses or enough are kept.',
  },
  'tracejury.journal.lag': {
    ...gauge('{record}'),
    meaning: 'Records of the owned partitions of a topic that the journal has not read yet.',
  },
  'tracejury.journal.divided': {
    ...counter('{record}'),
    meaning: 'Records of a topic without the id of their one trace as key, which the journal divided and sent again.',
  },
  'tracejury.journal.oversized': {
    ...counter('{record}'),
    meaning:
      'Parts of traces that are larger than a record of the topic may be. Their traces are scored where they are, without what other replicas have of them.',
  },
  'tracejury.journal.expired': {
    ...counter('{record}'),
    meaning: 'Records that a topic deleted by its retention before they were gathered. They are lost.',
  },
  'tracejury.journal.fenced': {
    ...counter('{partition}'),
    meaning: 'Partitions of a topic that another process took while this one still gathered them. It dropped what it had of them.',
  },
  'tracejury.journal.quarantined': {
    ...counter('{record}', 'tracejury.outcome'),
    meaning: 'Records on which the process died twice, set aside: kept, or not_kept for want of room.',
  },
  'tracejury.exporter.items': {
    ...counter('{item}', 'tracejury.exporter', 'tracejury.outcome'),
    meaning:
      'Items by outcome: sent, retried, failed (a dead letter), replaced by a newer revision before they were sent, or dropped at a bound. passed: with `forward`, the verdicts went on the run’s own spans. resumed: found in the store at the start.',
  },
  'tracejury.exporter.failures': {
    ...counter('{failure}', 'tracejury.exporter', 'tracejury.reason'),
    meaning:
      'Failed attempts by reason: http_ and the status, timeout, dns, connection, tls, protocol, page, missing, rejected, or other. protocol: the endpoint speaks another one. page: HTML came instead of an answer. missing: the span or trace is not there yet. rejected: a partial success refuses it. Requests of `forward` with spans count too.',
  },
  'tracejury.exporter.queue': {
    ...gauge('{item}', 'tracejury.exporter'),
    meaning: 'Items waiting to be sent, in memory and in the store.',
  },
  'tracejury.exporter.lag': { ...gauge('s', 'tracejury.exporter'), meaning: 'Age of the oldest item waiting to be sent.' },
  'tracejury.exporter.dead': {
    ...gauge('{item}', 'tracejury.exporter'),
    meaning: 'Dead letters: items in the store that the service no longer sends.',
  },
  'tracejury.exporter.circuit': {
    ...gauge('{state}', 'tracejury.exporter'),
    meaning: 'Circuit breaker: 0 closed, 1 half open (the exporter tries one item), 2 open (it sends nothing).',
  },
  'tracejury.webhook.runs': {
    ...counter('{run}', 'tracejury.exporter', 'tracejury.outcome'),
    meaning:
      'Runs in messages that a webhook accepted: sent one by one, or folded into a count. Runs fold beyond the size of a message or the rate of a minute.',
  },
  'tracejury.forward.spans': {
    ...counter('{span}', 'tracejury.outcome'),
    meaning:
      'Spans of agents for the target of `forward`: forwarded, refused by the target, unreadable, or own. unreadable: lost in the journal. own: made by tracejury, and left out. log_request counts forwarded requests with log records.',
  },
  'tracejury.forward.unscored': {
    ...counter('{span}'),
    meaning: 'Spans that were forwarded after `hold` without the verdicts of their run. An evaluation span with the verdicts follows.',
  },
  'tracejury.forward.requests': {
    ...counter('{request}', 'tracejury.outcome'),
    meaning:
      'Requests to the target of `forward`: sent, retried (the target may take them later), or refused for good. The service sends the parts of a refused request once more.',
  },
  'tracejury.forward.waiting': {
    ...gauge('{request}'),
    meaning: 'Requests of agents with spans to forward: their run is open, or the target has not accepted them.',
  },
  'tracejury.forward.lag': { ...gauge('s'), meaning: 'Age of the oldest request with spans to forward.' },
  'tracejury.forward.circuit': {
    ...gauge('{state}'),
    meaning:
      'Circuit breaker of the target of `forward`: 0 closed, 1 half open (the service tries one request), 2 open (it sends nothing).',
  },
  'tracejury.judge.requests': {
    ...counter('{request}', 'tracejury.judge', 'tracejury.outcome'),
    meaning: 'Questions to judges, by how they ended; under http:NAME calls of evaluators over HTTP.',
  },
  'tracejury.judge.circuit': {
    ...gauge('{state}', 'tracejury.judge'),
    meaning: 'Circuit breaker: 0 closed, 1 half open (the service tries one question), 2 open (it asks nothing).',
  },
  'tracejury.judge.unanswered': {
    ...gauge('1', 'tracejury.judge'),
    meaning:
      '1 from the first question that a judge, or an endpoint of an evaluator (http:NAME), does not answer, until it answers one. Unreachable, timed out, or refused for its key, its quota or its model.',
  },
  'tracejury.judge.answers': {
    ...counter('{answer}', 'tracejury.judge', 'tracejury.outcome'),
    meaning: 'Questions to judges with a `cache`: cached (answered before), or asked.',
  },
  'tracejury.judge.batches': {
    ...counter('{batch}', 'tracejury.judge', 'tracejury.outcome'),
    meaning:
      'Batches of questions at the endpoints of judges: created, not_taken, adopted, done, expired, failed, lost, or unreadable. not_taken: the endpoint did not create it. adopted: created by a process that died before it noted so. expired: not answered whole in time. failed: refused. lost: unknown to the endpoint. unreadable: its file of answers.',
  },
  'tracejury.judge.batch.questions': {
    ...counter('{question}', 'tracejury.judge', 'tracejury.outcome'),
    meaning:
      'Questions of batches: answered, known (from an earlier process), or asked directly by reason. The batch expired, failed, was lost, not_taken or unreachable; the answer was missing, refused or unusable; or `mode` was switched_off.',
  },
  'tracejury.judge.usage.disbelieved': {
    ...counter('{request}', 'tracejury.judge'),
    meaning:
      'Answers of judges with an impossible usage: no tokens, no whole number, or far more than the service sent. They cost the reserved amount.',
  },
  'tracejury.judge.batch.lines': {
    ...counter('{line}', 'tracejury.judge', 'tracejury.outcome'),
    meaning: 'Ignored lines of files of answers: malformed, unknown (there is no such question), duplicated (the first one counts).',
  },
  'tracejury.judge.batch.waiting': {
    ...gauge('{question}', 'tracejury.judge'),
    meaning: 'Questions that wait for a batch to start or to end.',
  },
  'tracejury.judge.batch.in_flight': { ...gauge('{batch}', 'tracejury.judge'), meaning: 'Batches in flight.' },
  'tracejury.judge.embeddings': {
    ...counter('{text}', 'tracejury.judge', 'tracejury.outcome'),
    meaning: 'Requested embeddings of texts: cached, or asked of the endpoint.',
  },
  'tracejury.judge.spent': {
    ...gauge('{unit}', ...budget),
    meaning:
      'Spent part of each limit of a judge’s or an evaluator’s budget on this day (UTC), in US dollars, requests or tokens. A request with an unknown end counts with the most that it may have used.',
  },
  'tracejury.judge.reserved': {
    ...gauge('{unit}', ...budget),
    meaning: 'Reserved part of each limit: the most that requests in flight may use, and a little for the next ones.',
  },
  'tracejury.judge.left': { ...gauge('{unit}', ...budget), meaning: 'Rest of each limit: neither spent nor reserved.' },
  'tracejury.judge.budget.used': { ...gauge('1', ...budget), meaning: 'Spent share of each limit of this day (UTC).' },
  'tracejury.judge.budget.waits': {
    ...counter('{request}', 'tracejury.judge', 'gen_ai.evaluation.name'),
    meaning: 'Requests that waited for the limit per minute of a judge or an evaluator.',
  },
  'tracejury.judge.pace': {
    ...gauge('1', ...budget),
    meaning:
      'Factor on sample rates that each limit allows with the waiting questions: 1 is all, 0 is nothing. The lower one of judge and evaluator applies.',
  },
  'tracejury.judge.jobs': {
    ...counter('{job}', 'tracejury.outcome'),
    meaning:
      'Pairs of run and evaluator for the queue of judges in the store: kept, refused, too_old, dropped, or unreadable. refused: the queue was full. too_old: older than store.keep.judge_age. dropped: the run went, mostly by store.keep.bytes. unreadable: of another release.',
  },
  'tracejury.judge.jobs.waiting': {
    ...gauge('{job}', 'tracejury.judge'),
    meaning:
      'Pairs that wait in the store or are in progress, by judge. An evaluator with its own budget has judge and evaluator (`main courtesy`), one with several judges jury:NAME, and one over HTTP http:NAME.',
  },
  'tracejury.judge.jobs.age': { ...gauge('s', 'tracejury.judge'), meaning: 'Age of the oldest pair.' },
  'tracejury.judge.sessions': {
    ...counter('{session}', 'gen_ai.evaluation.name', 'tracejury.outcome'),
    meaning:
      'Sessions that evaluators judge as a whole: judged, unreadable, or refused. judged: handed to the queue of judges, again after a later turn. unreadable: no turn could be read. refused: chosen beyond `sessions.rows`.',
  },
  'tracejury.judge.sessions.left_out': {
    ...counter('{turn}', 'gen_ai.evaluation.name'),
    meaning: 'Turns that a judge did not read: from the middle of long sessions, or deleted with their runs.',
  },
  'tracejury.judge.sessions.waiting': {
    ...gauge('{session}'),
    meaning: 'Sessions with a turn to judge: they wait until they are quiet for `sessions.quiet`.',
  },
  'tracejury.judge.sessions.held': {
    ...gauge('{session}'),
    meaning: 'Chosen sessions in the store, of at most `sessions.rows`.',
  },
  'tracejury.jury.verdicts': {
    ...counter('{verdict}', 'gen_ai.evaluation.name', 'tracejury.outcome'),
    meaning:
      'Verdicts of evaluators with several votes: unanimous, majority, tie, escalated, rules, or incomplete. tie: the lower score counts. escalated: another judge decided. rules: no judge voted, and only the rule decides. incomplete: too few votes, so the verdict failed.',
  },
  'tracejury.jury.votes': {
    ...counter('{vote}', 'gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.outcome'),
    meaning: 'Votes on runs that got a verdict, by judge: agreed with the verdict, differed, failed, or not_asked (over its budget, down).',
  },
  'tracejury.jury.escalations': {
    ...counter('{verdict}', 'gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.reason', 'tracejury.outcome'),
    meaning:
      'Escalations to another judge, by reason (disagreement, low_confidence) and result: decided, failed, or not_asked. Unless it decided, the votes did.',
  },
  'tracejury.judge.queue': { ...gauge('{question}'), meaning: 'Runs waiting for a judge or an endpoint.' },
  'tracejury.store.items': {
    ...counter('{item}', 'tracejury.outcome'),
    meaning: 'Scored runs for the store: written, retried after a failure, or dropped because the store could not keep up.',
  },
  'tracejury.store.disk_full': {
    ...counter('{operation}'),
    meaning: 'Operations of the store and the outboxes that failed because the disk is full.',
  },
  'tracejury.store.queue': { ...gauge('{item}'), meaning: 'Scored runs that wait for the store.' },
  'tracejury.store.write.duration': { ...histogram('s', durationBuckets), meaning: 'Time of one batch in the store.' },
  'tracejury.store.traces': {
    ...counter('{trace}', 'tracejury.outcome'),
    meaning:
      'Traces whose spans are kept: written, retried after a failure, dropped, too_large, or incomplete. dropped: the store could not keep up. incomplete: a request could not be read again.',
  },
  'tracejury.store.traces.queue': { ...gauge('{trace}'), meaning: 'Traces whose spans wait for the store.' },
  'tracejury.store.lookups': {
    ...counter('{trace}', 'tracejury.outcome'),
    meaning:
      'Traces without a root that were looked up in the store: new, reopened, not_kept, not_asked, or failed. reopened: late spans of a run with stored spans. not_kept: late spans of a run that cannot be scored again. not_asked: too many at once.',
  },
  'tracejury.store.indexed': { ...counter('{run}'), meaning: 'Runs whose words came into the index of stored texts.' },
  'tracejury.store.indexed.cut': {
    ...counter('{run}'),
    meaning:
      'Runs with more than 1 MB of different words. The index has the first of them, so a search by the others does not find the run.',
  },
  'tracejury.store.pruned': {
    ...counter('{run}', 'tracejury.what'),
    meaning: 'Deleted by store.keep: whole runs, their content, or spans (pieces of traces).',
  },
  'tracejury.annotations': {
    ...counter('{annotation}', 'tracejury.annotator.kind', 'tracejury.outcome'),
    meaning:
      'Verdicts of people and other programs on runs: attached, waiting, outdated, refused, expired, or deleted. outdated: the annotator has a newer one. refused: no room, or too many on one trace. expired: the run did not come.',
  },
  'tracejury.experiments.results': {
    ...counter('{result}', 'tracejury.outcome'),
    meaning:
      'Runs that name an experiment in their resource: added, merged, refused, left_out, no_example, or failed. no_example: the dataset that the run names does not have its example. merged: a later verdict of a run. refused: a runner writes the results of the experiment, it is done, or the tenant has no room for more experiments or results. left_out: too many waited for the store.',
  },
  'tracejury.experiments.expired': {
    ...counter('{experiment}'),
    meaning: 'Experiments that were deleted because their last result is older than `store.keep.experiments`.',
  },
  'tracejury.datasets.runs': {
    ...counter('{run}', 'tracejury.dataset', 'tracejury.outcome'),
    meaning:
      'Runs that rules of `datasets` matched: added, changed, unchanged, duplicate, kept, full, too_large, no_example, dropped, or failed. changed: a later revision of a draft. kept: its example is reviewed. no_example: the store has no texts of it. dropped: no room in memory, or the service stopped. failed: the store could not be read or written.',
  },
  'tracejury.queues.runs': {
    ...counter('{run}', 'tracejury.queue', 'tracejury.outcome'),
    meaning:
      'Runs that rules of `queues` matched: added, known, full, not_stored, dropped, or failed. Judged runs before the draw: drawn, not_drawn, or known. known: the queue has the run. full: the queue has its most open items. dropped: no room in memory, or the service stopped. failed: the store could not be read or written.',
  },
  'tracejury.replicas': {
    ...gauge('{process}'),
    meaning: 'Processes on the same PostgreSQL store that gave a sign of life within 30 seconds, this one included. 1 with SQLite.',
  },
  'tracejury.replicas.configurations': {
    ...gauge('{configuration}'),
    meaning: 'Different configurations of these processes. More than 1: verdicts depend on the replica that a run comes to.',
  },
  'tracejury.replica.tasks': {
    ...gauge('{task}', 'tracejury.what'),
    meaning:
      'Tasks that one replica at a time does for all: alerts, drift, issues, queues, rates, retention, rules, sums, or texts. 1: this process does it. 0: another one does. Gauges of the task come only from this process. Absent with SQLite.',
  },
  'tracejury.queues.items': {
    ...gauge('{item}', 'tracejury.queue', 'tracejury.state'),
    meaning:
      'Items of annotation queues: open, leased, done, skipped, or expired. leased: a person holds it. expired: its due time has passed. Read every 30 seconds.',
  },
  'tracejury.queues.answers': {
    ...counter('{item}', 'tracejury.queue', 'tracejury.outcome'),
    meaning:
      'Responses of people to items of queues: answered, skipped, or refused. refused: the item is closed, another person holds it, or the trace has its most annotations.',
  },
  'tracejury.queues.leases_expired': {
    ...counter('{lease}', 'tracejury.queue'),
    meaning: 'Leases of items of queues that ended without a response.',
  },
  'tracejury.annotations.waiting': { ...gauge('{annotation}'), meaning: 'Annotations that wait for their run.' },
  'tracejury.rate': {
    ...gauge('1', ...rate, 'tracejury.corrected', 'tracejury.bound'),
    meaning:
      'Pass rate (or mean score) of an evaluator with a judge, over all traffic of the last day. Weighted by the sample probabilities. Corrected by people’s labels where enough of their runs were drawn at random. point, low and high of its 95 % interval. Without an agent: all agents. Without a tenant: all tenants. Computed once a minute from the newest 20,000 runs; absent where it cannot be estimated.',
  },
  'tracejury.rate.judged': {
    ...gauge('1', ...rate, 'tracejury.bound'),
    meaning: 'The rate as the evaluator judged, without people’s labels.',
  },
  'tracejury.rate.runs': { ...gauge('{run}', ...rate), meaning: 'Judged runs behind the rate.' },
  'tracejury.rate.labels': { ...gauge('{run}', ...rate), meaning: 'Judged runs behind the rate that people have labelled.' },
  'tracejury.rate.uncovered': {
    ...gauge('1', ...rate),
    meaning: 'Share of the traffic that the rate does not cover: no budget or no room, the judge failed, or it has not answered yet.',
  },
  'tracejury.judge.agreement': {
    ...gauge('1', 'gen_ai.evaluation.name', 'tracejury.evaluator.version', 'gen_ai.request.model', 'tracejury.figure', 'tracejury.bound'),
    meaning:
      'Agreement of an evaluator with people: precision and recall of failures, and Cohen’s kappa. Computed from labels on runs of the last thirty days that a queue drew at random. Each has point, low and high of its 95 % interval.',
  },
  'tracejury.judge.drift': {
    ...gauge('1', ...drift),
    meaning:
      'Change of a judge on its fixed set of runs since the baseline: 0 not shown, 1 passes more, −1 passes less. A shown change stays until the next baseline.',
  },
  'tracejury.judge.drift.flipped': {
    ...gauge('1', ...drift, 'tracejury.bound'),
    meaning:
      'Share of the runs of the set whose verdict in the last measurement differs from the baseline, in either direction. It has point, low and high of its interval.',
  },
  'tracejury.judge.drift.looked': { ...gauge('s', ...drift), meaning: 'End of the last measurement that counts, in seconds since 1970.' },
  'tracejury.judge.drift.looks': {
    ...counter('{look}', 'gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.outcome'),
    meaning: 'Drift measurements that ended: kept, or unfinished (more than a tenth of the runs got no verdict), which do not count.',
  },
  'tracejury.judge.drift.questions': {
    ...counter('{run}', 'gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.outcome'),
    meaning: 'Questions of drift measurements: judged, failed, or put_off until later (no budget, or the judge is down).',
  },
  'tracejury.redactions': {
    ...counter('{text}', 'tracejury.rule'),
    meaning:
      'Replacements by `redact`, by rule: a ready pattern by its name, one of your own by its place in the list. not_searched: whole texts beyond the limits of searching.',
  },
  'tracejury.config.reloads': {
    ...counter('{reload}', 'tracejury.outcome'),
    meaning: 'Reloads of the configuration: applied, unchanged, or refused because of a fault.',
  },
  'tracejury.config.loaded': { ...gauge('s'), meaning: 'Time of the last reload of the configuration in force, in seconds since 1970.' },
  'tracejury.config.refused': {
    ...gauge('{flag}'),
    meaning: '1 when the last reload found a fault, so that an older configuration is in force; otherwise 0.',
  },
  'tracejury.config.waiting': {
    ...gauge('{key}'),
    meaning: 'Changed keys of the file that take effect after a restart.',
  },
  'tracejury.metrics.pushes': {
    ...counter('{push}', 'tracejury.outcome', 'tracejury.reason'),
    meaning:
      'Pushes of metrics to a backend: sent, rejected (it accepted only some of the values), or failed. The reason is one of tracejury.exporter.failures, or stopped.',
  },
  'tracejury.metrics.pushed': {
    ...gauge('s'),
    meaning: 'Time of the last push that the backend accepted, in seconds since 1970; 0 when there was none.',
  },
  'tracejury.alert.firing': {
    ...gauge('1', 'tracejury.alert', 'gen_ai.agent.name'),
    meaning:
      'Alerts of the configuration by agent: 1 while one fires, 0 while it does not. Without enough runs to say either there is no sample.',
  },
  'tracejury.alert.messages': {
    ...counter('{attempt}', 'tracejury.exporter', 'tracejury.outcome'),
    meaning: 'Attempts to notify people of an alert: sent, retried (it is sent again), or dropped.',
  },
  'tracejury.issues': {
    ...gauge('{issue}', 'tracejury.issue.state'),
    meaning: 'Issues in the store by their state.',
  },
  'tracejury.issue.events': {
    ...counter('{event}', 'tracejury.issue.event'),
    meaning: 'Issues that are new, that have regressed, or that opened again after they were ignored.',
  },
  'tracejury.issue.messages': {
    ...counter('{issue}', 'tracejury.exporter', 'tracejury.outcome'),
    meaning: 'Issues in messages of webhooks: sent, retried (they are sent again), or dropped.',
  },
  'tracejury.metrics.tenants_folded': {
    ...counter('{item}'),
    meaning: 'Scored runs and verdicts of judges of tenants beyond the first 100. Result metrics count them under the tenant other.',
  },
  'tracejury.metrics.folded': {
    ...counter('{value}', 'tracejury.metric'),
    meaning: 'Values beyond the label sets of their metric. They count under the label value other.',
  },
} as const satisfies { readonly [name: string]: MetricRow };

export type MetricName = keyof typeof metrics;
export type Metric = MetricRow;
export const metricRows: { readonly [name: string]: MetricRow } = metrics;

/** Each combination of values of the labels `within` has its own bound, so that one tenant does not use up the series of others. */
interface BoundedLabel {
  readonly label: string;
  readonly within: readonly string[];
  readonly bound: keyof LabelMaxima;
}

/** Values of a label that are kept. `versions: 0`: the label is left out. */
export interface LabelMaxima {
  readonly agents: number;
  readonly versions: number;
}

export const otherValue = 'other';

interface LabelBounds {
  /** Replaces values beyond the bound by `other`. Gives the same array when all are within it. */
  kept(labels: readonly string[], values: readonly string[]): readonly string[];
}

/** Further values of `within` share one bound. */
const scopesMax = 1_000;

/** Bounds the values of foreign labels over all metrics: clients choose the names of agents and services, and each name makes series. */
export function labelBounds(bounded: readonly BoundedLabel[], maxima: LabelMaxima): LabelBounds {
  const bounds = new Map(
    bounded.map(
      ({ label, within, bound }) => [label, { within, valuesMax: maxima[bound], known: new Map<string, Set<string>>() }] as const,
    ),
  );

  function isKept(known: Map<string, Set<string>>, valuesMax: number, scope: string, value: string): boolean {
    const own = known.has(scope) || known.size < scopesMax ? scope : otherValue;
    const values = known.get(own) ?? new Set<string>();
    known.set(own, values);
    if (values.has(value)) return true;
    if (values.size >= valuesMax) return false;
    values.add(value);
    return true;
  }

  return {
    kept(labels, values) {
      let kept: string[] | undefined;
      labels.forEach((label, at) => {
        const bound = bounds.get(label);
        const value = values[at] ?? '';
        if (bound === undefined || value === '' || value === otherValue) return;
        const { within, valuesMax, known } = bound;
        const scope = within.map((one) => (kept ?? values)[labels.indexOf(one)] ?? '').join(' ');
        if (isKept(known, valuesMax, scope, value)) return;
        kept ??= [...values];
        kept[at] = otherValue;
      });
      return kept ?? values;
    },
  };
}
