/** The dashboard, row by row: the queries as Prometheus takes them, with Grafana's variables in them. */
export interface Panel {
  readonly title: string;
  readonly kind: 'timeseries' | 'stat' | 'heatmap' | 'table';
  /** Units by their names in Grafana. */
  readonly unit: string;
  /** Width in columns, of 24. */
  readonly width: number;
  readonly description: string;
  readonly queries: readonly Query[];
  /** Ends of the scale; it begins at 0. */
  readonly min?: number;
  readonly max?: number;
  readonly isStacked?: true;
  /** Points of it lead to a run: exemplars are asked for. */
  readonly hasExemplars?: true;
}

export interface Query {
  readonly expr: string;
  readonly legend: string;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const agent = 'gen_ai_agent_name=~"$agent"';
const evaluator = 'gen_ai_evaluation_name=~"$evaluator"';
const verdicts = `${agent}, ${evaluator}`;
const judged = 'gen_ai_evaluation_score_label=~"pass|fail"';
const passed = 'gen_ai_evaluation_score_label="pass"';
const window = '[$__rate_interval]';
const range = '[$__range]';

const one = (expr: string, legend = ''): readonly Query[] => [{ expr, legend }];
const passShare = (by: string, over: string): string =>
  `sum${by} (increase(tracejury_evaluation_results_total{${verdicts}, ${passed}}${over})) / sum${by} (increase(tracejury_evaluation_results_total{${verdicts}, ${judged}}${over}))`;
const quantile = (q: number, metric: string, by: string, selector: string): string =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket${selector === '' ? '' : `{${selector}}`}${window})))`;

const overview: Row = {
  title: 'Overview',
  panels: [
    {
      title: 'Runs',
      kind: 'stat',
      unit: 'short',
      width: 4,
      description: 'Runs that were scored in the time shown.',
      queries: one(`sum(increase(tracejury_runs_total{${agent}}${range}))`),
    },
    {
      title: 'Passed',
      kind: 'stat',
      unit: 'percentunit',
      width: 4,
      max: 1,
      description: 'Share of the verdicts that pass, of those that pass or fail.',
      queries: one(passShare('', range)),
    },
    {
      title: 'Tool calls that failed',
      kind: 'stat',
      unit: 'percentunit',
      width: 4,
      max: 1,
      description: 'Share of all tool calls by agents.',
      queries: one(
        `sum(increase(tracejury_agent_tool_calls_total{${agent}, tracejury_outcome="failed"}${range})) / sum(increase(tracejury_agent_tool_calls_total{${agent}}${range}))`,
      ),
    },
    {
      title: 'Cost of agents',
      kind: 'stat',
      unit: 'currencyUSD',
      width: 4,
      description: 'Cost of their own model calls, where prices are configured.',
      queries: one(`sum(increase(tracejury_agent_cost_total{${agent}}${range}))`),
    },
    {
      title: 'Cost of judges',
      kind: 'stat',
      unit: 'currencyUSD',
      width: 4,
      description: 'Cost of the models that judges ask.',
      queries: one(`sum(increase(tracejury_evaluation_cost_total{${evaluator}}${range}))`),
    },
    {
      title: 'Pressed',
      kind: 'stat',
      unit: 'short',
      width: 4,
      description: '0: not at all; above it the service gives up judges, then content, then puts requests off.',
      queries: one('max(tracejury_stress_level)'),
    },
    {
      title: 'Runs a second',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'By agent.',
      queries: one(`sum by (gen_ai_agent_name) (rate(tracejury_runs_total{${agent}}${window}))`, '{{gen_ai_agent_name}}'),
    },
    {
      title: 'Share that passes',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'By evaluator.',
      queries: one(passShare(' by (gen_ai_evaluation_name)', window), '{{gen_ai_evaluation_name}}'),
    },
  ],
};

const agents: Row = {
  title: 'Agents',
  panels: [
    {
      title: 'Share that passes',
      kind: 'table',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'By agent and evaluator in the time shown, the worst first.',
      queries: one(`sort(${passShare(' by (gen_ai_agent_name, gen_ai_evaluation_name)', range)})`),
    },
    {
      title: 'Share that passes',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'By agent, all evaluators together.',
      queries: one(passShare(' by (gen_ai_agent_name)', window), '{{gen_ai_agent_name}}'),
    },
    {
      title: 'Duration of runs',
      kind: 'timeseries',
      unit: 's',
      width: 12,
      description: 'Half of the runs take no longer, and 95 of 100.',
      queries: [
        { expr: quantile(0.5, 'tracejury_run_duration_seconds', 'gen_ai_agent_name', agent), legend: '{{gen_ai_agent_name}} 50 %' },
        { expr: quantile(0.95, 'tracejury_run_duration_seconds', 'gen_ai_agent_name', agent), legend: '{{gen_ai_agent_name}} 95 %' },
      ],
    },
    {
      title: 'Tokens a second',
      kind: 'timeseries',
      unit: 'short',
      width: 12,
      isStacked: true,
      description: 'That agents use, by model and kind.',
      queries: one(
        `sum by (gen_ai_request_model, gen_ai_token_type) (rate(tracejury_agent_tokens_total{${agent}}${window}))`,
        '{{gen_ai_request_model}} {{gen_ai_token_type}}',
      ),
    },
    {
      title: 'Cost an hour',
      kind: 'timeseries',
      unit: 'currencyUSD',
      width: 12,
      isStacked: true,
      description: 'By agent, where prices are configured.',
      queries: one(`3600 * sum by (gen_ai_agent_name) (rate(tracejury_agent_cost_total{${agent}}${window}))`, '{{gen_ai_agent_name}}'),
    },
    {
      title: 'Model calls',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'Calls by agents, by model and outcome.',
      queries: one(
        `sum by (gen_ai_request_model, tracejury_outcome) (rate(tracejury_agent_model_calls_total{${agent}}${window}))`,
        '{{gen_ai_request_model}} {{tracejury_outcome}}',
      ),
    },
    {
      title: 'Runs by completeness',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'Runs that are not complete were closed before all of their spans came.',
      queries: one(`sum by (tracejury_completeness) (rate(tracejury_runs_total{${agent}}${window}))`, '{{tracejury_completeness}}'),
    },
    {
      title: 'Directness of tasks',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'Convergence of the tasks with several runs, the twenty least direct.',
      queries: one(`bottomk(20, tracejury_convergence_ratio{${agent}})`, '{{gen_ai_agent_name}} {{tracejury_task}}'),
    },
  ],
};

const tools: Row = {
  title: 'Tools',
  panels: [
    {
      title: 'Share of calls that failed',
      kind: 'table',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'By tool and agent in the time shown, the worst first.',
      queries: one(
        `sort_desc(sum by (gen_ai_tool_name, gen_ai_agent_name) (increase(tracejury_agent_tool_calls_total{${agent}, tracejury_outcome="failed"}${range})) / sum by (gen_ai_tool_name, gen_ai_agent_name) (increase(tracejury_agent_tool_calls_total{${agent}}${range})))`,
      ),
    },
    {
      title: 'Calls a second',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'The twenty tools that are called most.',
      queries: one(
        `topk(20, sum by (gen_ai_tool_name) (rate(tracejury_agent_tool_calls_total{${agent}}${window})))`,
        '{{gen_ai_tool_name}}',
      ),
    },
    {
      title: 'Outcome of calls',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'Returned, failed, or asked for without a sign that it ran.',
      queries: one(`sum by (tracejury_outcome) (rate(tracejury_agent_tool_calls_total{${agent}}${window}))`, '{{tracejury_outcome}}'),
    },
    {
      title: 'Duration of calls',
      kind: 'timeseries',
      unit: 's',
      width: 12,
      hasExemplars: true,
      description: '95 of 100 take no longer; the twenty slowest tools. Points lead to calls that failed.',
      queries: one(
        `topk(20, ${quantile(0.95, 'tracejury_agent_tool_call_duration_seconds', 'gen_ai_tool_name', agent)})`,
        '{{gen_ai_tool_name}}',
      ),
    },
  ],
};

const evaluators: Row = {
  title: 'Evaluators',
  panels: [
    {
      title: 'Verdicts a second',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'By label: pass, fail, a label of the evaluator’s own, skipped or error.',
      queries: one(
        `sum by (gen_ai_evaluation_score_label) (rate(tracejury_evaluation_results_total{${verdicts}}${window}))`,
        '{{gen_ai_evaluation_score_label}}',
      ),
    },
    {
      title: 'Mean score',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'By evaluator.',
      queries: one(
        `sum by (gen_ai_evaluation_name) (rate(tracejury_evaluation_score_sum{${verdicts}}${window})) / sum by (gen_ai_evaluation_name) (rate(tracejury_evaluation_score_count{${verdicts}}${window}))`,
        '{{gen_ai_evaluation_name}}',
      ),
    },
    {
      title: 'Scores',
      kind: 'heatmap',
      unit: 'short',
      width: 12,
      hasExemplars: true,
      description: 'Distribution of verdicts between 0 and 1. An exact 0 has a separate bucket. Points lead to runs that failed.',
      queries: one(`sum by (le) (increase(tracejury_evaluation_score_bucket{${verdicts}}${window}))`, '{{le}}'),
    },
    {
      title: 'Skipped and failed evaluations, by reason',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'Decisions other than scored, with the reason.',
      queries: one(
        `sum by (tracejury_decision, tracejury_reason) (rate(tracejury_decisions_total{${evaluator}, tracejury_decision!="scored"}${window}))`,
        '{{tracejury_decision}} {{tracejury_reason}}',
      ),
    },
    {
      title: 'Data that runs lacked',
      kind: 'table',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'Share of the runs of an agent that an evaluator could not score, and what to switch on for it.',
      queries: one(
        `sort_desc(sum by (gen_ai_agent_name, gen_ai_evaluation_name, tracejury_need) (increase(tracejury_evaluability_total{${verdicts}, tracejury_need!=""}${range})) / ignoring (tracejury_need) group_left sum by (gen_ai_agent_name, gen_ai_evaluation_name) (increase(tracejury_evaluability_total{${verdicts}}${range})))`,
      ),
    },
    {
      title: 'Verdicts of later revisions',
      kind: 'timeseries',
      unit: 'reqps',
      width: 12,
      isStacked: true,
      description: 'Spans that came late, and whether they changed a verdict.',
      queries: one(`sum by (tracejury_change) (rate(tracejury_evaluation_revisions_total{${evaluator}}${window}))`, '{{tracejury_change}}'),
    },
  ],
};

const judges: Row = {
  title: 'Judges',
  panels: [
    {
      title: 'Pass rate over all traffic',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'Rate of the last day, from the sample that judges saw, with the ends of its 95 % interval; all agents.',
      queries: one(`tracejury_rate_ratio{${evaluator}, gen_ai_agent_name=""}`, '{{gen_ai_evaluation_name}} {{tracejury_bound}}'),
    },
    {
      title: 'Traffic that it does not speak for',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 12,
      max: 1,
      description: 'Chosen, and not asked about or not answered yet.',
      queries: one(`tracejury_rate_uncovered_ratio{${evaluator}, gen_ai_agent_name=""}`, '{{gen_ai_evaluation_name}}'),
    },
    {
      title: 'Requests a second',
      kind: 'timeseries',
      unit: 'reqps',
      width: 8,
      isStacked: true,
      description: 'Calls by judge and outcome.',
      queries: one(
        `sum by (tracejury_judge, tracejury_outcome) (rate(tracejury_judge_requests_total${window}))`,
        '{{tracejury_judge}} {{tracejury_outcome}}',
      ),
    },
    {
      title: 'Duration of a verdict',
      kind: 'timeseries',
      unit: 's',
      width: 8,
      description: '95 of 100 take no longer, by evaluator.',
      queries: one(
        quantile(0.95, 'tracejury_evaluation_duration_seconds', 'gen_ai_evaluation_name', `${evaluator}, tracejury_evaluator_kind="judge"`),
        '{{gen_ai_evaluation_name}}',
      ),
    },
    {
      title: 'Cost an hour',
      kind: 'timeseries',
      unit: 'currencyUSD',
      width: 8,
      isStacked: true,
      description: 'By judge and evaluator, where prices are configured.',
      queries: one(
        `3600 * sum by (tracejury_judge, gen_ai_evaluation_name) (rate(tracejury_evaluation_cost_total{${evaluator}}${window}))`,
        '{{tracejury_judge}} {{gen_ai_evaluation_name}}',
      ),
    },
    {
      title: 'Budget of the day that is spent',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 8,
      max: 1,
      description: 'Use of each limit, by judge or evaluator.',
      queries: one('tracejury_judge_budget_used_ratio', '{{tracejury_judge}} {{gen_ai_evaluation_name}} {{tracejury_budget}}'),
    },
    {
      title: 'Sample rates within the budget',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 8,
      max: 1,
      description: '100 %: all that was chosen is asked about.',
      queries: one('tracejury_judge_pace_ratio', '{{tracejury_judge}} {{gen_ai_evaluation_name}} {{tracejury_budget}}'),
    },
    {
      title: 'What waits',
      kind: 'timeseries',
      unit: 's',
      width: 8,
      description: 'Age of the oldest pair of run and evaluator in the store.',
      queries: one('tracejury_judge_jobs_age_seconds', '{{tracejury_judge}}'),
    },
    {
      title: 'Agreement with people',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 8,
      max: 1,
      description: 'On the same runs of the last thirty days.',
      queries: one(
        `tracejury_judge_agreement_ratio{${evaluator}, tracejury_bound="point"}`,
        '{{gen_ai_evaluation_name}} {{gen_ai_request_model}} {{tracejury_figure}}',
      ),
    },
    {
      title: 'Drift',
      kind: 'timeseries',
      unit: 'short',
      width: 8,
      min: -1,
      max: 1,
      description: 'On a fixed set of runs, since the baseline: 0 no change is shown, 1 the judge passes more, -1 it passes less.',
      queries: one(`tracejury_judge_drift_ratio{${evaluator}}`, '{{gen_ai_evaluation_name}} {{tracejury_judge}}'),
    },
    {
      title: 'Judges that are not asked',
      kind: 'timeseries',
      unit: 'short',
      width: 8,
      max: 2,
      description: '0: they answer; 2: they do not, and are not asked.',
      queries: one('tracejury_judge_circuit', '{{tracejury_judge}}'),
    },
  ],
};

const service: Row = {
  title: 'The service itself',
  panels: [
    {
      title: 'Requests a second',
      kind: 'timeseries',
      unit: 'reqps',
      width: 8,
      isStacked: true,
      description: 'By transport, status and, where they were not taken, the reason.',
      queries: one(
        `sum by (tracejury_transport, tracejury_status, tracejury_reason) (rate(tracejury_receiver_requests_total${window}))`,
        '{{tracejury_transport}} {{tracejury_status}} {{tracejury_reason}}',
      ),
    },
    {
      title: 'Spans a second',
      kind: 'timeseries',
      unit: 'reqps',
      width: 8,
      isStacked: true,
      description: 'Accepted, or rejected with the reason.',
      queries: one(
        `sum by (tracejury_outcome, tracejury_reason) (rate(tracejury_receiver_spans_total${window}))`,
        '{{tracejury_outcome}} {{tracejury_reason}}',
      ),
    },
    {
      title: 'Bytes a second',
      kind: 'timeseries',
      unit: 'Bps',
      width: 8,
      isStacked: true,
      description: 'Requests by transport and signal.',
      queries: one(
        `sum by (tracejury_transport, tracejury_signal) (rate(tracejury_receiver_bytes_total${window}))`,
        '{{tracejury_transport}} {{tracejury_signal}}',
      ),
    },
    {
      title: 'Memory',
      kind: 'timeseries',
      unit: 'bytes',
      width: 8,
      description: 'Memory of the process, of open traces, and of requests in flight.',
      queries: [
        { expr: 'tracejury_process_resident_bytes', legend: 'process' },
        { expr: 'tracejury_open_bytes', legend: 'open traces' },
        { expr: 'tracejury_receiver_in_flight_bytes', legend: 'in flight' },
      ],
    },
    {
      title: 'Strain',
      kind: 'timeseries',
      unit: 'percentunit',
      width: 8,
      description: 'Used share of each bound; the one at 100 % is the limit.',
      queries: one('tracejury_stress_strain_ratio', '{{tracejury_strain}}'),
    },
    {
      title: 'Open traces',
      kind: 'timeseries',
      unit: 'short',
      width: 8,
      description: 'Traces whose runs are not closed.',
      queries: one('tracejury_open_traces', 'open'),
    },
    {
      title: 'Journal',
      kind: 'timeseries',
      unit: 'bytes',
      width: 8,
      description: 'Size of records, and what pins them.',
      queries: one('tracejury_journal_used_bytes', 'used'),
    },
    {
      title: 'Duration of syncs and writes',
      kind: 'timeseries',
      unit: 's',
      width: 8,
      description: '99 of 100 take no longer: syncs of the journal, batches of the store.',
      queries: [
        { expr: quantile(0.99, 'tracejury_journal_sync_duration_seconds', '', ''), legend: 'journal' },
        { expr: quantile(0.99, 'tracejury_store_write_duration_seconds', '', ''), legend: 'store' },
      ],
    },
    {
      title: 'Items waiting to be written',
      kind: 'timeseries',
      unit: 'short',
      width: 8,
      description: 'Runs, and traces whose spans are kept.',
      queries: [
        { expr: 'tracejury_store_queue', legend: 'runs' },
        { expr: 'tracejury_store_traces_queue', legend: 'traces' },
      ],
    },
    {
      title: 'Age of scores that wait for a backend',
      kind: 'timeseries',
      unit: 's',
      width: 8,
      description: 'The oldest of each exporter.',
      queries: one('tracejury_exporter_lag_seconds', '{{tracejury_exporter}}'),
    },
    {
      title: 'Scores that leave',
      kind: 'timeseries',
      unit: 'reqps',
      width: 8,
      isStacked: true,
      description: 'Scores by exporter and outcome.',
      queries: one(
        `sum by (tracejury_exporter, tracejury_outcome) (rate(tracejury_exporter_items_total${window}))`,
        '{{tracejury_exporter}} {{tracejury_outcome}}',
      ),
    },
    {
      title: 'Dead letters, and backends that are not tried',
      kind: 'timeseries',
      unit: 'short',
      width: 8,
      description: 'State of each exporter; a circuit of 2 is a backend that is down.',
      queries: [
        { expr: 'tracejury_exporter_dead', legend: '{{tracejury_exporter}} dead' },
        { expr: 'tracejury_exporter_circuit', legend: '{{tracejury_exporter}} circuit' },
      ],
    },
  ],
};

const replicas: Row = {
  title: 'Replicas over Kafka',
  panels: [
    {
      title: 'Records that wait in the topic',
      kind: 'timeseries',
      unit: 'short',
      width: 12,
      isStacked: true,
      description: 'Records that no replica has read, by the replica that owns their partition.',
      queries: one('tracejury_journal_lag', '{{instance}}'),
    },
    {
      title: 'Lost and divided data',
      kind: 'timeseries',
      unit: 'short',
      width: 12,
      description: 'Partitions lost by a replica that stood still, records that the topic deleted too early, records of several traces.',
      queries: [
        { expr: `increase(tracejury_journal_fenced_total${window})`, legend: '{{instance}} partitions lost' },
        { expr: `increase(tracejury_journal_expired_total${window})`, legend: '{{instance}} records lost' },
        { expr: `increase(tracejury_journal_divided_total${window})`, legend: '{{instance}} records divided' },
      ],
    },
  ],
};

export const rows: readonly Row[] = [overview, agents, tools, evaluators, judges, service, replicas];
