/** Every metric of ours: name, kind, unit, labels, meaning. The page, the reference and the tests read this table. */

interface MetricRow {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** UCUM, as OpenTelemetry writes units. */
  readonly unit: string;
  readonly labels: readonly string[];
  readonly meaning: string;
  /** Upper edges, inclusive. Histograms only. */
  readonly buckets?: readonly number[];
}

/** An exact 0 sits alone in the first bucket; 1 shares the last one with near misses only. */
const scoreBuckets = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1] as const;
/** A sync takes a fraction of a millisecond on a good disk. */
const syncBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
/** Labels whose values come from foreign spans. Beyond the bound of a metric they fold first, so that the others still tell something. */
export const foreignLabels: ReadonlySet<string> = new Set(['gen_ai.agent.name', 'tracejury.target.service.name', 'gen_ai.tool.name']);

/** Those of them that make series in many metrics; each tenant has its own. A further label, and what it is bounded within, is a row. */
export const boundedLabels: readonly BoundedLabel[] = [
  { label: 'gen_ai.agent.name', within: 'tracejury.tenant' },
  { label: 'tracejury.target.service.name', within: 'tracejury.tenant' },
];

/** A call of a tool takes milliseconds, a run of an agent minutes. */
const runBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600] as const;
const agent = ['gen_ai.agent.name', 'tracejury.target.service.name'] as const;
const group = ['tracejury.tenant', 'gen_ai.agent.name', 'tracejury.task'] as const;
const drift = ['gen_ai.evaluation.name', 'tracejury.judge', 'gen_ai.request.model'] as const;
const budget = ['tracejury.judge', 'gen_ai.evaluation.name', 'tracejury.budget'] as const;
const rate = ['gen_ai.evaluation.name', 'gen_ai.agent.name', 'tracejury.tenant'] as const;
const target = [
  'gen_ai.evaluation.name',
  'gen_ai.agent.name',
  'tracejury.evaluator.kind',
  'tracejury.target.service.name',
  'tracejury.tenant',
] as const;

export const metrics = {
  'tracejury.evaluation.score': {
    kind: 'histogram',
    unit: '1',
    labels: target,
    buckets: scoreBuckets,
    meaning: 'Scores of the first verdict of each run and evaluator.',
  },
  'tracejury.evaluation.results': {
    kind: 'counter',
    unit: '{result}',
    labels: [...target, 'gen_ai.evaluation.score.label', 'error.type'],
    meaning: 'Verdicts by label: pass, fail, an evaluator’s own label, skipped or error.',
  },
  'tracejury.evaluation.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['gen_ai.evaluation.name', 'tracejury.evaluator.kind', 'error.type'],
    buckets: durationBuckets,
    meaning: 'Time to reach a verdict.',
  },
  'tracejury.evaluation.tokens': {
    kind: 'counter',
    unit: '{token}',
    labels: ['gen_ai.evaluation.name', 'tracejury.judge', 'gen_ai.agent.name', 'gen_ai.token.type', 'gen_ai.request.model'],
    meaning: 'Tokens that judges used.',
  },
  'tracejury.evaluation.cost': {
    kind: 'counter',
    unit: '{USD}',
    labels: ['gen_ai.evaluation.name', 'tracejury.judge', 'gen_ai.agent.name', 'gen_ai.request.model'],
    meaning: 'US dollars that these tokens cost, of judges that have a price.',
  },
  'tracejury.evaluation.revisions': {
    kind: 'counter',
    unit: '{revision}',
    labels: ['gen_ai.evaluation.name', 'tracejury.change'],
    meaning: 'Verdicts of later revisions of a run, by whether they changed.',
  },
  'tracejury.decisions': {
    kind: 'counter',
    unit: '{decision}',
    labels: ['gen_ai.evaluation.name', 'tracejury.decision', 'tracejury.reason', 'tracejury.tenant'],
    meaning: 'How every (run, evaluator) pair ended.',
  },
  'tracejury.sampling.raised': {
    kind: 'counter',
    unit: '{run}',
    labels: [],
    meaning:
      'Runs whose tracestate claims that the samplers before the service keep a smaller share than limits.upstream_probability. They count as if that share were kept.',
  },
  'tracejury.evaluability': {
    kind: 'counter',
    unit: '{attempt}',
    labels: ['gen_ai.agent.name', 'tracejury.dialect', 'gen_ai.evaluation.name', 'tracejury.outcome', 'tracejury.reason', 'tracejury.need'],
    meaning: 'Evaluators that looked at the first revision of a run, by whether they could score it and what it lacked.',
  },
  'tracejury.runs': {
    kind: 'counter',
    unit: '{run}',
    labels: [...agent, 'tracejury.completeness', 'tracejury.tenant'],
    meaning: 'Runs closed, first revisions only.',
  },
  'tracejury.run.duration': {
    kind: 'histogram',
    unit: 's',
    labels: agent,
    buckets: runBuckets,
    meaning: 'Time from the start to the end of a run, first revisions only. The exemplar of a bucket is a run that ended in an error.',
  },
  'tracejury.agent.tool_calls': {
    kind: 'counter',
    unit: '{call}',
    labels: [...agent, 'gen_ai.tool.name', 'tracejury.outcome'],
    meaning:
      'Tool calls of agents by outcome: returned, failed, or not_executed. failed: the span states it, or the result reads as an error and no span states success. not_executed: a model asked for the call, and nothing shows that it ran. First revisions only.',
  },
  'tracejury.agent.tool_call.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['gen_ai.agent.name', 'gen_ai.tool.name'],
    buckets: durationBuckets,
    meaning: 'Time of tool calls with times on their spans, first revisions only. The exemplar of a bucket is a failed call.',
  },
  'tracejury.agent.tokens': {
    kind: 'counter',
    unit: '{token}',
    labels: [...agent, 'gen_ai.request.model', 'gen_ai.token.type'],
    meaning: 'Tokens of the model calls of agents, as far as the spans have them: input and output. First revisions only.',
  },
  'tracejury.agent.cost': {
    kind: 'counter',
    unit: '{USD}',
    labels: [...agent, 'gen_ai.request.model'],
    meaning:
      'US dollars that the model calls of agents cost by the table `prices`, first revisions only. Calls of unknown cost are not in it.',
  },
  'tracejury.agent.model_calls': {
    kind: 'counter',
    unit: '{call}',
    labels: [...agent, 'gen_ai.request.model', 'tracejury.outcome'],
    meaning:
      'Model calls of agents by whether their cost is known: priced, no_price (the model has none), no_tokens (the spans lack a number). Counted when there are prices.',
  },
  'tracejury.convergence': {
    kind: 'gauge',
    unit: '1',
    labels: group,
    meaning:
      'How near the last runs of a task come to its shortest way: the mean of least steps / own steps. A failed run counts 0. From two runs on. Tasks without labels of their own count together as other.',
  },
  'tracejury.convergence.optimal': {
    kind: 'gauge',
    unit: '1',
    labels: group,
    meaning: 'Share of the last runs of a task that took the shortest way.',
  },
  'tracejury.convergence.runs': { kind: 'gauge', unit: '{run}', labels: group, meaning: 'How many runs that is.' },
  'tracejury.tasks': { kind: 'gauge', unit: '{task}', labels: [], meaning: 'Pairs of agent and task whose last runs are remembered.' },
  'tracejury.tasks.forgotten': {
    kind: 'counter',
    unit: '{task}',
    labels: [],
    meaning: 'Pairs of agent and task that were forgotten to stay within groups.tasks.',
  },
  'tracejury.tasks.runs': {
    kind: 'counter',
    unit: '{run}',
    labels: ['tracejury.outcome'],
    meaning:
      'Revisions of runs, by whether they were compared with others of their task or why not: no_task, not_complete, tool_calls_not_carried, no_verdict.',
  },
  'tracejury.runs.joined': {
    kind: 'counter',
    unit: '{run}',
    labels: [],
    meaning: 'Runs that closed and turned out to be part of another run.',
  },
  'tracejury.traces.joined': {
    kind: 'counter',
    unit: '{trace}',
    labels: ['tracejury.reason'],
    meaning: 'Traces that became part of the run of another trace, by what ties them: link, or content.',
  },
  'tracejury.traces.not_joined': {
    kind: 'counter',
    unit: '{trace}',
    labels: ['tracejury.reason'],
    meaning: 'Traces that belong to the run of another trace and stay apart, because a bound was reached.',
  },
  'tracejury.traces.dropped': {
    kind: 'counter',
    unit: '{trace}',
    labels: ['tracejury.reason'],
    meaning: 'Traces that were closed without a run: no agent, model or tool span in them.',
  },
  'tracejury.spans.late': {
    kind: 'counter',
    unit: '{span}',
    labels: ['tracejury.reason'],
    meaning:
      'Spans that came after their trace was closed. after_close: they may make a new revision. after_late: they came too late. not_kept: the spans before them are not stored.',
  },
  'tracejury.spans.own': { kind: 'counter', unit: '{span}', labels: [], meaning: 'Spans of ours that came back in and were left alone.' },
  'tracejury.spans.duplicate': { kind: 'counter', unit: '{span}', labels: [], meaning: 'Spans that were already there.' },
  'tracejury.spans.over_limit': { kind: 'counter', unit: '{span}', labels: [], meaning: 'Spans beyond limits.spans_per_trace.' },
  'tracejury.services.unrecognised': {
    kind: 'gauge',
    unit: '{scope}',
    labels: [],
    meaning:
      'Services and scopes whose spans hold no agent, model call or tool call that a collector reads; the log and `/api/v1/evaluability` name them.',
  },
  'tracejury.open.traces': { kind: 'gauge', unit: '{trace}', labels: [], meaning: 'Traces that are being gathered.' },
  'tracejury.open.bytes': { kind: 'gauge', unit: 'By', labels: [], meaning: 'Bytes of the spans that are being gathered.' },
  'tracejury.receiver.requests': {
    kind: 'counter',
    unit: '{request}',
    labels: ['tracejury.transport', 'tracejury.signal', 'tracejury.status', 'tracejury.reason'],
    meaning: 'Requests answered, by HTTP status or gRPC code; refused ones with the reason.',
  },
  'tracejury.receiver.empty': {
    kind: 'counter',
    unit: '{request}',
    labels: ['tracejury.signal'],
    meaning:
      'Requests that were taken and held nothing to keep: nothing at all, or nothing but what was rejected or ignored. The journal has none of them.',
  },
  'tracejury.receiver.spans': {
    kind: 'counter',
    unit: '{span}',
    labels: ['tracejury.outcome', 'tracejury.reason'],
    meaning: 'Spans received: accepted, or rejected with the reason.',
  },
  'tracejury.receiver.log_records': {
    kind: 'counter',
    unit: '{record}',
    labels: ['tracejury.outcome', 'tracejury.reason'],
    meaning: 'Log records received: accepted, ignored (no trace id), or rejected with the reason.',
  },
  'tracejury.receiver.connections': {
    kind: 'gauge',
    unit: '{connection}',
    labels: ['tracejury.transport'],
    meaning: 'Open connections, by listener: http, grpc (both OTLP) and console.',
  },
  'tracejury.receiver.connections_max': {
    kind: 'gauge',
    unit: '{connection}',
    labels: ['tracejury.transport'],
    meaning: 'How many connections the listener takes: by limits.connections and the descriptor limit of the process.',
  },
  'tracejury.receiver.connections_ended': {
    kind: 'counter',
    unit: '{connection}',
    labels: ['tracejury.transport', 'tracejury.reason'],
    meaning:
      'Connections that the service refused or ended, by reason. over_limit: no room. evicted: an idle one made room for another. no_descriptor: the process has no descriptor left. The other reasons name what the client did or failed to do.',
  },
  'tracejury.own_spans': {
    kind: 'counter',
    unit: '{span}',
    labels: ['tracejury.outcome'],
    meaning: 'Spans of the service itself: sent, failed (the backend did not take them), or dropped (too many waited).',
  },
  'tracejury.console.busy': {
    kind: 'counter',
    unit: '{request}',
    labels: [],
    meaning: 'Requests to the console that got 503, because other answers, or their bytes, took all room.',
  },
  'tracejury.receiver.bytes': {
    kind: 'counter',
    unit: 'By',
    labels: ['tracejury.transport', 'tracejury.signal'],
    meaning: 'Body bytes received, before inflating.',
  },
  'tracejury.receiver.in_flight': { kind: 'gauge', unit: 'By', labels: [], meaning: 'Bytes of requests that are not answered yet.' },
  'tracejury.stress.level': {
    kind: 'gauge',
    unit: '{level}',
    labels: [],
    meaning: 'How hard pressed the service is: 0 calm, 1 no judge is asked, 2 the store gets no content either, 3 requests are refused.',
  },
  'tracejury.stress.time': {
    kind: 'counter',
    unit: 's',
    labels: ['tracejury.stress.level'],
    meaning: 'Time at each level: calm, shed_judges, shed_content, refuse.',
  },
  'tracejury.stress.strain': {
    kind: 'gauge',
    unit: '1',
    labels: ['tracejury.strain'],
    meaning:
      'Load of the service, as a share of what it can bear. in_flight: bytes of requests. open_traces: their bytes. closing: its lateness, of limits.closing_lag. event_loop: its lateness, of a second. journal: its used room. store: waiting runs. forward: requests that wait for the target of `forward`. memory: the process, of limits.memory_bytes.',
  },
  'tracejury.stress.refused': {
    kind: 'counter',
    unit: '{request}',
    labels: ['tracejury.strain'],
    meaning: 'Requests that were refused and may come back, by the highest load.',
  },
  'tracejury.stress.shed': {
    kind: 'counter',
    unit: '{item}',
    labels: ['tracejury.what', 'tracejury.strain'],
    meaning: 'What was given up to go on: judge (a question that was not asked), content (of a run, not kept), by what bore most.',
  },
  'tracejury.process.resident': {
    kind: 'gauge',
    unit: 'By',
    labels: [],
    meaning: 'Resident memory of the process, of limits.memory_bytes.',
  },
  'tracejury.journal.records': {
    kind: 'counter',
    unit: '{record}',
    labels: ['tracejury.record'],
    meaning:
      'Records that the journal made durable, by kind. traces, logs: requests. copy: requests written again. done: notes of finished traces. forwarded: notes of requests that have gone on.',
  },
  'tracejury.journal.bytes': {
    kind: 'counter',
    unit: 'By',
    labels: [],
    meaning: 'Bytes of the journal’s records, with head and padding.',
  },
  'tracejury.journal.refused': {
    kind: 'counter',
    unit: '{record}',
    labels: ['tracejury.reason'],
    meaning:
      'Records that the journal refused: full, busy (too many bytes wait for the disk), too_large, failed (the disk), disk_full, stopped.',
  },
  'tracejury.journal.syncs': {
    kind: 'counter',
    unit: '{sync}',
    labels: ['tracejury.outcome'],
    meaning: 'Groups of records that were synced to the disk: done, or failed.',
  },
  'tracejury.journal.sync.duration': { kind: 'histogram', unit: 's', labels: [], buckets: syncBuckets, meaning: 'Time of one sync.' },
  'tracejury.journal.replayed': {
    kind: 'counter',
    unit: '{record}',
    labels: [],
    meaning: 'Requests of an earlier process that were read again at the start, because traces in them were open.',
  },
  'tracejury.journal.moved': {
    kind: 'counter',
    unit: '{record}',
    labels: [],
    meaning: 'Requests that were written again because a run in them stayed open for long.',
  },
  'tracejury.journal.used': {
    kind: 'gauge',
    unit: 'By',
    labels: [],
    meaning: 'Bytes of the journal that hold records, or are pinned by some, of limits.journal_bytes.',
  },
  'tracejury.journal.torn': {
    kind: 'counter',
    unit: '{tail}',
    labels: [],
    meaning: 'Ends of the journal that a crash left incomplete, cut off at the start. Nothing of them had been acknowledged.',
  },
  'tracejury.journal.corrupt': {
    kind: 'counter',
    unit: '{part}',
    labels: [],
    meaning: 'Damaged parts of the journal that were skipped. Records in them are lost.',
  },
  'tracejury.journal.damaged': {
    kind: 'counter',
    unit: '{segment}',
    labels: ['tracejury.outcome'],
    meaning: 'Damaged segments of the journal: kept as .damaged, or not_kept because the disk refuses or enough are kept.',
  },
  'tracejury.journal.quarantined': {
    kind: 'counter',
    unit: '{record}',
    labels: ['tracejury.outcome'],
    meaning: 'Records on which the process died twice, set aside: kept, or not_kept for want of room.',
  },
  'tracejury.exporter.items': {
    kind: 'counter',
    unit: '{item}',
    labels: ['tracejury.exporter', 'tracejury.outcome'],
    meaning:
      'Items by outcome: sent, retried, failed (a dead letter), replaced by a newer revision before they were sent, or dropped at a bound. passed: with `forward`, the verdicts went on the run’s own spans. resumed: found in the store at the start.',
  },
  'tracejury.exporter.failures': {
    kind: 'counter',
    unit: '{failure}',
    labels: ['tracejury.exporter', 'tracejury.reason'],
    meaning:
      'Failed attempts by reason: http_ and the status, timeout, dns, connection, tls, protocol, page, missing, rejected, or other. protocol: the endpoint speaks another one. page: HTML came instead of an answer. missing: the span or trace is not there yet. rejected: a partial success refuses it. Requests of `forward` with spans count too.',
  },
  'tracejury.exporter.queue': {
    kind: 'gauge',
    unit: '{item}',
    labels: ['tracejury.exporter'],
    meaning: 'Items waiting to be sent, in memory and in the store.',
  },
  'tracejury.exporter.lag': {
    kind: 'gauge',
    unit: 's',
    labels: ['tracejury.exporter'],
    meaning: 'Age of the oldest item waiting to be sent.',
  },
  'tracejury.exporter.dead': {
    kind: 'gauge',
    unit: '{item}',
    labels: ['tracejury.exporter'],
    meaning: 'Dead letters: items that were given up and stand in the store.',
  },
  'tracejury.exporter.circuit': {
    kind: 'gauge',
    unit: '{state}',
    labels: ['tracejury.exporter'],
    meaning: 'Circuit breaker: 0 closed, 1 half open (one item is tried), 2 open (the backend is left alone).',
  },
  'tracejury.webhook.runs': {
    kind: 'counter',
    unit: '{run}',
    labels: ['tracejury.exporter', 'tracejury.outcome'],
    meaning:
      'Runs in messages that a webhook took: told one by one, or folded into a count. Runs fold when more are ready than one message or one minute takes.',
  },
  'tracejury.forward.spans': {
    kind: 'counter',
    unit: '{span}',
    labels: ['tracejury.outcome'],
    meaning:
      'Spans of agents for the target of `forward`: forwarded, refused by the target, unreadable, or own. unreadable: lost in the journal. own: made by tracejury, and left out. log_request counts requests with log records that went on.',
  },
  'tracejury.forward.unscored': {
    kind: 'counter',
    unit: '{span}',
    labels: [],
    meaning:
      'Spans that went on before the verdicts of their run, because they had waited for `hold`. A span of ours follows with the verdicts.',
  },
  'tracejury.forward.requests': {
    kind: 'counter',
    unit: '{request}',
    labels: ['tracejury.outcome'],
    meaning:
      'Requests to the target of `forward`: sent, retried (the target may take them later), or refused for good. The service sends the parts of a refused request once more.',
  },
  'tracejury.forward.waiting': {
    kind: 'gauge',
    unit: '{request}',
    labels: [],
    meaning: 'Requests of agents of which something has not gone on, because its run is open or the target has not taken it.',
  },
  'tracejury.forward.lag': { kind: 'gauge', unit: 's', labels: [], meaning: 'Age of the oldest of them.' },
  'tracejury.forward.circuit': {
    kind: 'gauge',
    unit: '{state}',
    labels: [],
    meaning: 'Circuit breaker of the target of `forward`: 0 closed, 1 half open (one request is tried), 2 open (the target is left alone).',
  },
  'tracejury.judge.requests': {
    kind: 'counter',
    unit: '{request}',
    labels: ['tracejury.judge', 'tracejury.outcome'],
    meaning: 'Questions to judges, and under http:NAME calls of the evaluators over HTTP, by how they ended.',
  },
  'tracejury.judge.circuit': {
    kind: 'gauge',
    unit: '{state}',
    labels: ['tracejury.judge'],
    meaning: 'Circuit breaker: 0 closed, 1 half open (one question is asked), 2 open (the judge is left alone).',
  },
  'tracejury.judge.answers': {
    kind: 'counter',
    unit: '{answer}',
    labels: ['tracejury.judge', 'tracejury.outcome'],
    meaning: 'Questions by whether the same one had been answered: cached, or asked. Of judges whose entry has a `cache`.',
  },
  'tracejury.judge.batches': {
    kind: 'counter',
    unit: '{batch}',
    labels: ['tracejury.judge', 'tracejury.outcome'],
    meaning:
      'Batches of questions at the endpoints of judges: created, not_taken, adopted, done, expired, failed, lost, or unreadable. not_taken: the endpoint did not create it. adopted: created by a process that died before it noted so. expired: not answered whole in time. failed: refused. lost: unknown to the endpoint. unreadable: its file of answers.',
  },
  'tracejury.judge.batch.questions': {
    kind: 'counter',
    unit: '{question}',
    labels: ['tracejury.judge', 'tracejury.outcome'],
    meaning:
      'Questions of batches: answered, known (from an earlier process), or asked directly by reason. The batch expired, failed, was lost, not_taken or unreachable; the answer was missing, refused or unusable; or `mode` was switched_off.',
  },
  'tracejury.judge.usage.disbelieved': {
    kind: 'counter',
    unit: '{request}',
    labels: ['tracejury.judge'],
    meaning:
      'Answers of judges whose usage cannot be: no tokens at all, no whole number, or far more than was sent. They cost what was reserved.',
  },
  'tracejury.judge.batch.lines': {
    kind: 'counter',
    unit: '{line}',
    labels: ['tracejury.judge', 'tracejury.outcome'],
    meaning: 'Lines of files of answers that were passed over: malformed, unknown (nobody asked that), duplicated (the first one counts).',
  },
  'tracejury.judge.batch.waiting': {
    kind: 'gauge',
    unit: '{question}',
    labels: ['tracejury.judge'],
    meaning: 'Questions that wait for a batch to go, or to come back.',
  },
  'tracejury.judge.batch.in_flight': { kind: 'gauge', unit: '{batch}', labels: ['tracejury.judge'], meaning: 'Batches in flight.' },
  'tracejury.judge.embeddings': {
    kind: 'counter',
    unit: '{text}',
    labels: ['tracejury.judge', 'tracejury.outcome'],
    meaning: 'Texts whose vectors were wanted: cached, or asked of the endpoint.',
  },
  'tracejury.judge.spent': {
    kind: 'gauge',
    unit: '{unit}',
    labels: budget,
    meaning:
      'What is spent on this day (UTC) of each limit of a judge’s or an evaluator’s budget, in its unit: US dollars, requests or tokens. A request with an unknown end counts with the most that it may have used.',
  },
  'tracejury.judge.reserved': {
    kind: 'gauge',
    unit: '{unit}',
    labels: budget,
    meaning: 'What requests under way may use of it, and a little that is reserved ahead of the next ones.',
  },
  'tracejury.judge.left': { kind: 'gauge', unit: '{unit}', labels: budget, meaning: 'What is left of it: neither spent nor reserved.' },
  'tracejury.judge.budget.used': {
    kind: 'gauge',
    unit: '1',
    labels: budget,
    meaning: 'Share of the limit of this day (UTC) that is spent.',
  },
  'tracejury.judge.budget.waits': {
    kind: 'counter',
    unit: '{request}',
    labels: ['tracejury.judge', 'gen_ai.evaluation.name'],
    meaning: 'Requests that had to wait for a limit of a minute: of a judge, or of an evaluator.',
  },
  'tracejury.judge.pace': {
    kind: 'gauge',
    unit: '1',
    labels: budget,
    meaning:
      'What the limit leaves of the sample rates, counting the waiting questions: 1 is all, 0 is nothing. The lower of a judge’s and an evaluator’s applies.',
  },
  'tracejury.judge.jobs': {
    kind: 'counter',
    unit: '{job}',
    labels: ['tracejury.outcome'],
    meaning:
      'Pairs of run and evaluator for the queue of judges in the store: kept, refused, too_old, dropped, or unreadable. refused: the queue was full. too_old: older than store.keep.judge_age. dropped: the run went, mostly by store.keep.bytes. unreadable: of another release.',
  },
  'tracejury.judge.jobs.waiting': {
    kind: 'gauge',
    unit: '{job}',
    labels: ['tracejury.judge'],
    meaning:
      'Pairs that wait in the store or are being asked, by judge. An evaluator with its own budget has judge and evaluator (`main courtesy`), one with several judges jury:NAME, and one over HTTP http:NAME.',
  },
  'tracejury.judge.jobs.age': { kind: 'gauge', unit: 's', labels: ['tracejury.judge'], meaning: 'Age of the oldest of them.' },
  'tracejury.judge.sessions': {
    kind: 'counter',
    unit: '{session}',
    labels: ['gen_ai.evaluation.name', 'tracejury.outcome'],
    meaning:
      'Sessions that evaluators judge as a whole: judged, unreadable, or refused. judged: handed to the queue of judges, again after a later turn. unreadable: no turn could be read. refused: chosen beyond `sessions.rows`.',
  },
  'tracejury.judge.sessions.left_out': {
    kind: 'counter',
    unit: '{turn}',
    labels: ['gen_ai.evaluation.name'],
    meaning: 'Turns that a judge was not shown: in the middle of sessions with more turns than are kept, or gone with their runs.',
  },
  'tracejury.judge.sessions.waiting': {
    kind: 'gauge',
    unit: '{session}',
    labels: [],
    meaning: 'Sessions with a turn that is not judged yet: until they are quiet for `sessions.quiet`.',
  },
  'tracejury.judge.sessions.held': {
    kind: 'gauge',
    unit: '{session}',
    labels: [],
    meaning: 'Sessions that were chosen and are remembered, of at most `sessions.rows`.',
  },
  'tracejury.jury.verdicts': {
    kind: 'counter',
    unit: '{verdict}',
    labels: ['gen_ai.evaluation.name', 'tracejury.outcome'],
    meaning:
      'Verdicts of evaluators with several votes: unanimous, majority, tie, escalated, rules, or incomplete. tie: the lower score counts. escalated: another judge decided. rules: no judge voted, and the rule decides alone. incomplete: too few votes, so the verdict failed.',
  },
  'tracejury.jury.votes': {
    kind: 'counter',
    unit: '{vote}',
    labels: ['gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.outcome'],
    meaning: 'Votes on runs that got a verdict, by judge: agreed with the verdict, differed, failed, or not_asked (over its budget, down).',
  },
  'tracejury.jury.escalations': {
    kind: 'counter',
    unit: '{verdict}',
    labels: ['gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.reason', 'tracejury.outcome'],
    meaning:
      'Votes that were passed on to another judge, by reason (disagreement, low_confidence) and result: decided, failed, or not_asked. Unless it decided, the votes did.',
  },
  'tracejury.judge.queue': { kind: 'gauge', unit: '{question}', labels: [], meaning: 'Runs waiting for a judge or an endpoint.' },
  'tracejury.store.items': {
    kind: 'counter',
    unit: '{item}',
    labels: ['tracejury.outcome'],
    meaning: 'Scored runs for the store: written, retried after a failure, or dropped because it could not keep up.',
  },
  'tracejury.store.disk_full': {
    kind: 'counter',
    unit: '{operation}',
    labels: [],
    meaning: 'Operations of the store, outboxes among them, that failed because its disk is full.',
  },
  'tracejury.store.queue': { kind: 'gauge', unit: '{item}', labels: [], meaning: 'Scored runs that are not written yet.' },
  'tracejury.store.write.duration': {
    kind: 'histogram',
    unit: 's',
    labels: [],
    buckets: durationBuckets,
    meaning: 'Time of one batch in the store.',
  },
  'tracejury.store.traces': {
    kind: 'counter',
    unit: '{trace}',
    labels: ['tracejury.outcome'],
    meaning:
      'Traces whose spans are kept: written, retried after a failure, dropped, too_large, or incomplete. dropped: the store could not keep up. incomplete: a request could not be read again.',
  },
  'tracejury.store.traces.queue': { kind: 'gauge', unit: '{trace}', labels: [], meaning: 'Traces whose spans are not written yet.' },
  'tracejury.store.lookups': {
    kind: 'counter',
    unit: '{trace}',
    labels: ['tracejury.outcome'],
    meaning:
      'Traces without a root that were looked up in the store: new, reopened, not_kept, not_asked, or failed. reopened: late spans of a run with stored spans. not_kept: late spans of a run that cannot be scored again. not_asked: too many at once.',
  },
  'tracejury.store.pruned': {
    kind: 'counter',
    unit: '{run}',
    labels: ['tracejury.what'],
    meaning: 'Deleted by store.keep: whole runs, their content, or spans (pieces of traces).',
  },
  'tracejury.annotations': {
    kind: 'counter',
    unit: '{annotation}',
    labels: ['tracejury.annotator.kind', 'tracejury.outcome'],
    meaning:
      'Verdicts of people and other programs on runs: attached, waiting, outdated, refused, expired, or deleted. outdated: the annotator has a newer one. refused: no room, or too many on one trace. expired: the run did not come.',
  },
  'tracejury.annotations.waiting': { kind: 'gauge', unit: '{annotation}', labels: [], meaning: 'Annotations that wait for their run.' },
  'tracejury.rate': {
    kind: 'gauge',
    unit: '1',
    labels: [...rate, 'tracejury.corrected', 'tracejury.bound'],
    meaning:
      'Pass rate (or mean score) of an evaluator with a judge, over all traffic of the last day. Weighted by the sample probabilities, and corrected by people’s labels where there are enough. point, low and high of its 95 % interval. Without an agent: all agents. Without a tenant: all tenants. Computed once a minute from the newest 20,000 runs; absent where it cannot be estimated.',
  },
  'tracejury.rate.judged': {
    kind: 'gauge',
    unit: '1',
    labels: [...rate, 'tracejury.bound'],
    meaning: 'The same as the evaluator judged, without people’s labels.',
  },
  'tracejury.rate.runs': { kind: 'gauge', unit: '{run}', labels: rate, meaning: 'Judged runs behind it.' },
  'tracejury.rate.labels': { kind: 'gauge', unit: '{run}', labels: rate, meaning: 'Of these, runs that people have labelled.' },
  'tracejury.rate.uncovered': {
    kind: 'gauge',
    unit: '1',
    labels: rate,
    meaning: 'Share of the traffic that it does not speak for: no budget or no room, the judge failed, or has not answered yet.',
  },
  'tracejury.judge.agreement': {
    kind: 'gauge',
    unit: '1',
    labels: ['gen_ai.evaluation.name', 'tracejury.evaluator.version', 'gen_ai.request.model', 'tracejury.figure', 'tracejury.bound'],
    meaning:
      'Agreement of an evaluator with people on runs of the last thirty days: precision and recall of failures, and Cohen’s kappa. Each has point, low and high of its 95 % interval.',
  },
  'tracejury.judge.drift': {
    kind: 'gauge',
    unit: '1',
    labels: drift,
    meaning:
      'Change of a judge on its fixed set of runs since the baseline: 0 not shown, 1 passes more, −1 passes less. A shown change stays until the next baseline.',
  },
  'tracejury.judge.drift.flipped': {
    kind: 'gauge',
    unit: '1',
    labels: [...drift, 'tracejury.bound'],
    meaning:
      'Share of the runs of the set whose verdict at the last look differs from the baseline, in either direction. It has point, low and high of its interval.',
  },
  'tracejury.judge.drift.looked': {
    kind: 'gauge',
    unit: 's',
    labels: drift,
    meaning: 'When the last look that counts ended, in seconds since 1970.',
  },
  'tracejury.judge.drift.looks': {
    kind: 'counter',
    unit: '{look}',
    labels: ['gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.outcome'],
    meaning: 'Looks at fixed sets that ended: kept, or unfinished (more than a tenth of the runs got no verdict), which count for nothing.',
  },
  'tracejury.judge.drift.questions': {
    kind: 'counter',
    unit: '{run}',
    labels: ['gen_ai.evaluation.name', 'tracejury.judge', 'tracejury.outcome'],
    meaning: 'Runs of fixed sets that judges were asked about: judged, failed, or put_off (no budget, or the judge is down) until later.',
  },
  'tracejury.redactions': {
    kind: 'counter',
    unit: '{text}',
    labels: ['tracejury.rule'],
    meaning:
      'Replacements by `redact`, by rule: a ready pattern by its name, one of your own by its place in the list. not_searched: whole texts beyond the limits of searching.',
  },
  'tracejury.config.reloads': {
    kind: 'counter',
    unit: '{reload}',
    labels: ['tracejury.outcome'],
    meaning: 'Times that the configuration was read again: applied, unchanged, or refused because of a fault.',
  },
  'tracejury.config.loaded': {
    kind: 'gauge',
    unit: 's',
    labels: [],
    meaning: 'When the configuration that is in force was last read, in seconds since 1970.',
  },
  'tracejury.config.refused': {
    kind: 'gauge',
    unit: '{flag}',
    labels: [],
    meaning: '1 when the last reading of the file found a fault, so that an older configuration is in force; otherwise 0.',
  },
  'tracejury.config.waiting': {
    kind: 'gauge',
    unit: '{key}',
    labels: [],
    meaning: 'Keys of the file that hold only after a restart and differ from what the service was started with.',
  },
  'tracejury.metrics.pushes': {
    kind: 'counter',
    unit: '{push}',
    labels: ['tracejury.outcome', 'tracejury.reason'],
    meaning:
      'Pushes of metrics to a backend: sent, rejected (it took only some of the values), or failed. The reason is one of tracejury.exporter.failures, or stopped.',
  },
  'tracejury.metrics.pushed': {
    kind: 'gauge',
    unit: 's',
    labels: [],
    meaning: 'When the backend last took the metrics, in seconds since 1970; 0: never, or they are not pushed.',
  },
  'tracejury.metrics.tenants_folded': {
    kind: 'counter',
    unit: '{item}',
    labels: [],
    meaning:
      'Scored runs, and verdicts of judges on them, of tenants beyond the first 100: result metrics count them under the tenant other.',
  },
  'tracejury.metrics.folded': {
    kind: 'counter',
    unit: '{value}',
    labels: ['tracejury.metric'],
    meaning: 'Values whose label set came beyond the bound of their metric and was counted under the label value other.',
  },
} as const satisfies { readonly [name: string]: MetricRow };

export type MetricName = keyof typeof metrics;
export type Metric = MetricRow;
export const metricRows: { readonly [name: string]: MetricRow } = metrics;

// Bounds how many values a label of foreign origin has over all metrics: whoever sends spans names agents and services, and each name makes series.

/** `within`: the label whose values each have a bound of their own, so that no tenant uses up what others may have. */
interface BoundedLabel {
  readonly label: string;
  readonly within: string;
}

export const otherValue = 'other';

interface LabelBounds {
  /** The values as they are kept: those beyond the bound are `other`. The same array when nothing is folded. */
  kept(labels: readonly string[], values: readonly string[]): readonly string[];
}

/** Values of `within` beyond it share one bound. */
const scopesMax = 1_000;

export function labelBounds(bounded: readonly BoundedLabel[], valuesMax: number): LabelBounds {
  const bounds = new Map(bounded.map((row) => [row.label, { within: row.within, known: new Map<string, Set<string>>() }] as const));

  function isKept(known: Map<string, Set<string>>, scope: string, value: string): boolean {
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
        if (
          bound === undefined ||
          value === '' ||
          value === otherValue ||
          isKept(bound.known, values[labels.indexOf(bound.within)] ?? '', value)
        )
          return;
        kept ??= [...values];
        kept[at] = otherValue;
      });
      return kept ?? values;
    },
  };
}
