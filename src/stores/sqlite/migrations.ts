/**
 * The steps that brought the tables to their present form, in order. A step that was released is never changed. From `firstShared` on they run on
 * PostgreSQL as well, where other replicas go on meanwhile with the release before: a step adds tables, indexes and columns with a default. Parts that no
 * release uses any more is taken away by a step of the release after.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { JuryError } from '../../model/errors.ts';
import { jsonFunctions, leaseClock } from '../postgres/functions.ts';
import { oneRowARun } from './one-row-a-run.ts';
import { textTables } from '../sql/run-texts.ts';
import { fineWidthMicros } from '../sql/version-totals.ts';
import type { Tables } from '../sql/tables.ts';

const annotationColumns =
  'id, trace_id, tenant, span_id, is_near, name, annotator, kind, label, score, passed, explanation, at_us, received_us, run_id';
const evaluationColumns =
  'run_id, name, evaluator, kind, version, options_hash, revision, verdict, score, label, explanation, reason, evidence, details, sample_probability, agent, started_us';

const addSkew = 'alter table replicas add column skew_us integer';

/** A step of statements that both engines execute, or one for SQLite only. */
interface Step extends Migration {
  readonly statements?: readonly string[];
}

/** Those before it were released before there was PostgreSQL. */
const firstShared = '038_drawn_labels';

const migrations: { readonly [name: string]: Step } = {
  '001_runs': steps([
    `create table runs (
       id integer primary key, tenant text not null, trace_id text not null, span_id text not null,
       agent text, service text, version text, session_id text, model text,
       started_us integer not null, ended_us integer not null,
       completeness text not null, status text not null, revision integer not null, part_of text, content blob,
       unique (tenant, trace_id, span_id)) strict`,
    'create index runs_by_start on runs (started_us, id)',
    'create index runs_by_agent on runs (agent, started_us, id)',
    'create index runs_by_service on runs (service, started_us, id)',
    'create index runs_by_session on runs (session_id, started_us, id) where session_id is not null',
    'create index runs_by_trace on runs (trace_id)',
    'create index runs_with_content on runs (started_us, id) where content is not null',
    `create table evaluations (
       run_id integer not null references runs (id) on delete cascade, name text not null,
       evaluator text not null, kind text not null, version integer not null, options_hash text not null, revision integer not null,
       verdict text not null, score real, label text not null, explanation text not null, reason text, evidence text not null, details text not null,
       sample_probability real not null, agent text, started_us integer not null,
       primary key (run_id, name)) strict, without rowid`,
    'create index evaluations_by_name on evaluations (name, started_us, run_id)',
    'create index evaluations_by_verdict on evaluations (name, verdict, started_us, run_id)',
    'create index evaluations_by_agent on evaluations (name, agent, verdict, started_us, run_id)',
    'create index evaluations_by_any_verdict on evaluations (verdict, started_us, run_id)',
    'create index evaluations_by_time on evaluations (started_us, name, verdict, score, agent)',
    `create table decisions (
       run_id integer not null references runs (id) on delete cascade, name text not null, evaluator text not null, revision integer not null, decision text not null, reason text,
       primary key (run_id, name)) strict, without rowid`,
    `create table tool_calls (
       run_id integer not null references runs (id) on delete cascade, position integer not null, agent text, name text not null, ended text not null, took_us integer, started_us integer not null,
       primary key (run_id, position)) strict, without rowid`,
    'create index tool_calls_by_time on tool_calls (started_us, agent, name, ended, took_us)',
  ]),

  // Items that wait for backends.
  '002_exports': steps([
    // Ids are never given twice: what is noted of a row must not hit another one.
    `create table exports (
       id integer primary key autoincrement, run_id integer not null references runs (id) on delete cascade, exporter text not null, part text not null, revision integer not null,
       state text not null, attempts integer not null, offered_us integer not null, due_us integer not null, reason text, item blob not null,
       unique (run_id, exporter, part)) strict`,
    'create index exports_by_exporter on exports (exporter, state, id)',
    'create index exports_by_state on exports (state, id)',
  ]),

  // Why a run is without its content.
  '003_content': steps([
    'alter table runs add column content_gone text',
    // It may have been too old, or too large.
    "update runs set content_gone = 'unknown' where content is null",
  ]),

  // The spans of traces.
  '004_spans': steps([
    // The body is last, so that reads of the other columns skip it.
    `create table spans (
       id integer primary key, tenant text not null, trace_id text not null, digest text not null,
       started_us integer not null, stored_us integer not null, spans integer not null, is_whole integer not null, is_redacted integer not null, body blob not null,
       unique (trace_id, tenant, digest)) strict`,
    'create index spans_by_start on spans (started_us, id)',
    'create table joined_traces (tenant text not null, trace_id text not null, whole_id text not null, primary key (trace_id, tenant)) strict, without rowid',
    'create index joined_traces_by_whole on joined_traces (whole_id, tenant)',
  ]),

  // Open questions to judges, their answers and their cost.
  '005_judges': steps([
    `create table judge_spend (
       judge text not null, day text not null, nano_usd integer not null, reserved_nano_usd integer not null, requests integer not null, input_tokens real not null, output_tokens real not null,
       primary key (judge, day)) strict, without rowid`,
    // Ids are never given twice: one that is being asked must not be taken for another one.
    `create table judge_jobs (
       id integer primary key autoincrement, run_id integer not null references runs (id) on delete cascade, name text not null, revision integer not null,
       evaluator text not null, kind text not null, party text not null, options_hash text not null, probability real not null, offered_us integer not null, body blob not null,
       unique (run_id, name)) strict`,
    'create table judge_answers (key text not null primary key, answered_us integer not null, chars integer not null, value text not null) strict',
    'create index judge_answers_by_time on judge_answers (answered_us, key, chars)',
    'create index judge_jobs_by_party on judge_jobs (party, id, offered_us)',
  ]),

  // Annotations by people and other programs.
  '006_annotations': steps([
    // `*` is not a tenant's name: it matches the tenant of the trace. Without a span the text is empty.
    `create table annotations (
       id integer primary key, trace_id text not null, tenant text not null, span_id text not null, is_near integer not null, name text not null, annotator text not null,
       kind text not null, label text, score real, passed integer, explanation text not null, at_us integer not null, received_us integer not null,
       run_id integer references runs (id) on delete cascade,
       unique (trace_id, tenant, span_id, name, annotator)) strict`,
    'create index annotations_by_run on annotations (run_id, name, annotator) where run_id is not null',
    'create index annotations_that_wait on annotations (received_us, id) where run_id is null',
  ]),

  // Questions that are in batches at the endpoints of judges, and what came back.
  '007_batches': steps([
    'create table judge_batches (id text not null primary key, judge text not null, endpoint text not null, remote_id text, prepared_us integer not null) strict',
    `create table judge_batch_questions (
       question text not null primary key, batch_id text references judge_batches (id) on delete cascade, answered_us integer, answer text) strict`,
    'create index judge_batch_questions_by_batch on judge_batch_questions (batch_id)',
    'create index judge_batch_questions_by_time on judge_batch_questions (answered_us) where answered_us is not null',
  ]),

  // Judges' verdicts on fixed sets of runs, look by look.
  '008_drift': steps([
    `create table drift_looks (
         name text not null, series integer not null, look integer not null, series_began_us integer not null, asked text not null, because text not null,
         state text not null, began_us integer not null, ended_us integer, runs integer not null, answers text not null, result text,
         primary key (name, series, look)) strict, without rowid`,
  ]),

  // The probability with which a run without a verdict was chosen.
  '009_decision_probability': steps([
    // Unknown for older rows.
    'alter table decisions add column probability real',
  ]),

  // Budgets of evaluators beside those of judges, in requests and tokens beside money, by the day and by the minute.
  '010_budgets': steps([
    // The process that had reserved it is gone.
    'update judge_spend set nano_usd = nano_usd + reserved_nano_usd',
    'alter table judge_spend drop column reserved_nano_usd',
    'alter table judge_spend rename column judge to account',
    `create table judge_reservations (
       account text not null, day text not null, owner text not null, nano_usd integer not null, requests integer not null, tokens integer not null, renewed_us integer not null,
       primary key (account, day, owner)) strict, without rowid`,
    'create table judge_minutes (account text not null, second integer not null, requests integer not null, tokens integer not null, primary key (account, second)) strict, without rowid',
  ]),

  // Sessions that evaluators judge as a whole, and their turns.
  '011_sessions': steps([
    // Without a probability: it was passed over.
    `create table sessions (
       id integer primary key autoincrement, tenant text not null, session_id text not null, name text not null,
       evaluator text not null, kind text not null, party text not null, options_hash text not null, probability real,
       revision integer not null, handed_on integer not null, times integer not null, left_out integer not null, since_us integer not null, changed_us integer not null,
       run_id integer references runs (id) on delete set null,
       unique (tenant, session_id, name)) strict`,
    'create index sessions_waiting on sessions (since_us, changed_us) where probability is not null and revision > handed_on',
    'create index sessions_chosen on sessions (id) where probability is not null',
    'create index sessions_unjudged on sessions (name) where probability is not null and run_id is null',
    'create index sessions_by_change on sessions (changed_us)',
    'create index sessions_by_run on sessions (run_id) where run_id is not null',
    `create table session_turns (
       session integer not null references sessions (id) on delete cascade, run_id integer not null references runs (id) on delete cascade,
       revision integer not null, started_us integer not null, body blob not null,
       primary key (session, run_id)) strict, without rowid`,
    'create index session_turns_by_run on session_turns (run_id)',
  ]),

  // The process that asks about a waiting job, and until when no other one does.
  '012_job_leases': steps([
    'alter table judge_jobs add column owner text',
    'alter table judge_jobs add column leased_us integer',
    'create index judge_jobs_by_owner on judge_jobs (owner) where owner is not null',
  ]),

  // Annotations of single tool calls: the call is part of an annotation's key, so the table is made anew.
  '013_call_annotations': steps([
    // Without a call the text is empty: the run as a whole is meant.
    `create table annotations_anew (
       id integer primary key, trace_id text not null, tenant text not null, span_id text not null, tool_call text not null default '', is_near integer not null, name text not null, annotator text not null,
       kind text not null, label text, score real, passed integer, explanation text not null, at_us integer not null, received_us integer not null,
       run_id integer references runs (id) on delete cascade,
       unique (trace_id, tenant, span_id, tool_call, name, annotator)) strict`,
    `insert into annotations_anew (${annotationColumns}) select ${annotationColumns} from annotations`,
    'drop table annotations',
    'alter table annotations_anew rename to annotations',
    'create index annotations_by_run on annotations (run_id, name, annotator) where run_id is not null',
    'create index annotations_that_wait on annotations (received_us, id) where run_id is null',
  ]),

  // Verdicts in a table with row ids. Without them a row is in the index itself, which keeps a quarter of a page of each at most: verdicts are mostly a little larger, and each took another page of four kilobytes for the rest.
  '014_evaluation_rows': steps([
    `create table evaluations_anew (
       run_id integer not null references runs (id) on delete cascade, name text not null,
       evaluator text not null, kind text not null, version integer not null, options_hash text not null, revision integer not null,
       verdict text not null, score real, label text not null, explanation text not null, reason text, evidence text not null, details text not null,
       sample_probability real not null, agent text, started_us integer not null,
       primary key (run_id, name)) strict`,
    `insert into evaluations_anew (${evaluationColumns}) select ${evaluationColumns} from evaluations order by run_id, name`,
    'drop table evaluations',
    'alter table evaluations_anew rename to evaluations',
    'create index evaluations_by_name on evaluations (name, started_us, run_id)',
    'create index evaluations_by_verdict on evaluations (name, verdict, started_us, run_id)',
    'create index evaluations_by_agent on evaluations (name, agent, verdict, started_us, run_id)',
    'create index evaluations_by_any_verdict on evaluations (verdict, started_us, run_id)',
    'create index evaluations_by_time on evaluations (started_us, name, verdict, score, agent)',
  ]),

  // When turns of sessions came: how long they keep their runs. Those of before keep none.
  '015_turn_times': steps(['alter table session_turns add column noted_us integer not null default 0']),

  // Times after the last microsecond that a double holds exactly: rows with a later one could be written, and failed every query that read them.
  '016_time_range': steps(
    [
      ['runs', 'started_us'],
      ['runs', 'ended_us'],
      ['evaluations', 'started_us'],
      ['tool_calls', 'started_us'],
      ['tool_calls', 'took_us'],
      ['spans', 'started_us'],
      ['session_turns', 'started_us'],
    ].map(([table, column]) => `update ${table} set ${column} = ${Number.MAX_SAFE_INTEGER} where ${column} > ${Number.MAX_SAFE_INTEGER}`),
  ),

  // One row a run, with marks to search by, and blocks of compressed texts; no row for a verdict, a decision or a tool call.
  '017_one_row_a_run': { up: oneRowARun },

  // The normal process of each version of an agent, as JSON.
  '023_process': steps([
    `create table processes (
       id integer primary key autoincrement, tenant text not null, agent text not null, version text not null, runs integer not null, is_frozen integer not null,
       began_us integer not null, changed_us integer not null, used_us integer not null, model text not null, unique (tenant, agent, version)) strict`,
    'create index processes_by_use on processes (used_us, id)',
    'create index processes_in_order on processes (tenant, agent, began_us, id)',
  ]),

  // Datasets, their versions, and examples that are each valid from one version until another.
  '018_datasets': steps([
    `create table datasets (
       id integer primary key autoincrement, tenant text not null, name text not null, version integer not null, examples integer not null,
       created_us integer not null, changed_us integer not null, unique (tenant, name)) strict`,
    `create table dataset_versions (
       dataset_id integer not null references datasets (id) on delete cascade, version integer not null, at_us integer not null, made_by text not null, note text,
       added integer not null, changed integer not null, removed integer not null, examples integer not null,
       primary key (dataset_id, version)) strict, without rowid`,
    `create table dataset_examples (
       id integer primary key, dataset_id integer not null references datasets (id) on delete cascade, example_id text not null, place integer not null,
       from_version integer not null, until_version integer, is_draft integer not null, split text, tags text not null, fingerprint text not null, digest text not null,
       body blob not null, unique (dataset_id, example_id, from_version)) strict`,
    'create index dataset_examples_in_order on dataset_examples (dataset_id, place, from_version)',
    'create index dataset_examples_by_input on dataset_examples (dataset_id, fingerprint) where until_version is null',
    'create index dataset_examples_drafts on dataset_examples (dataset_id) where until_version is null and is_draft = 1',
  ]),

  // Experiments and their results: one row for each run of each example.
  '021_experiments': steps([
    `create table experiments (
       id integer primary key autoincrement, tenant text not null, experiment_id text not null, name text not null, dataset text, repeats integer not null,
       state text not null, began_us integer not null, ended_us integer, results integer not null default 0,
       dataset_facts text, provenance text not null, evaluators text not null, unique (tenant, experiment_id)) strict`,
    'create index experiments_by_name on experiments (name, id)',
    `create table experiment_results (
       id integer primary key, experiment integer not null references experiments (id) on delete cascade, example_id text not null, repeat integer not null,
       status text not null, trace_id text, span_id text, body blob not null, unique (experiment, example_id, repeat)) strict`,
    'create index experiment_results_in_order on experiment_results (experiment, id)',
    'create index experiment_results_by_status on experiment_results (experiment, status)',
    'create index experiment_results_by_run on experiment_results (experiment, trace_id, span_id) where trace_id is not null',
  ]),

  // Figures by version of an agent: figures of runs beside their verdicts, sums of them by time, and the states of alerts.
  '020_versions': steps([
    'alter table runs add column prompt text',
    'alter table runs add column task text',
    'alter table runs add column input_tokens integer',
    'alter table runs add column output_tokens integer',
    'alter table runs add column cost_usd real',
    `create table version_figures (
       tenant text not null, agent text not null, version text not null, task text not null, kind text not null, name text not null, at_us integer not null, width_us integer not null,
       runs integer not null, weight real not null, value real not null, weight_max real not null, first_us integer not null, last_us integer not null,
       primary key (kind, name, task, agent, tenant, version, width_us, at_us)) strict, without rowid`,
    'create index version_figures_by_time on version_figures (width_us, at_us)',
    'create table version_changes (at_us integer primary key) strict',
    // Stored runs are summed step by step.
    `insert into version_changes select distinct started_us / ${fineWidthMicros} * ${fineWidthMicros} from runs`,
    // The start of the last run that was pruned.
    'create table version_pruned (until_us integer not null) strict',
    'insert into version_pruned values (0)',
    'create table alert_states (alert text not null, agent text not null, state text not null, primary key (alert, agent)) strict, without rowid',
  ]),

  // Sums by version over all time, and over days. They are made of the others.
  '028_version_totals': steps([
    `create table version_totals (
       agent text not null, tenant text not null, version text not null, task text not null, kind text not null, name text not null,
       runs integer not null, weight real not null, value real not null, weight_max real not null, first_us integer not null, last_us integer not null,
       primary key (agent, tenant, version, task, kind, name)) strict, without rowid`,
    // The total is about times before it; 0: there is none.
    'create table version_total_until (until_us integer not null) strict',
    'insert into version_total_until values (0)',
    `create table version_days (
       at_us integer not null, agent text not null, tenant text not null, version text not null, kind text not null, name text not null,
       runs integer not null, weight real not null, value real not null, weight_max real not null, first_us integer not null, last_us integer not null,
       primary key (at_us, agent, tenant, version, kind, name)) strict, without rowid`,
    'create table version_days_made (at_us integer primary key) strict',
  ]),

  // Columns that lists of runs show and filter by: the beginning of the input, and labels of annotations.
  '023_run_lists': steps([
    'alter table runs add column excerpt text',
    'create index annotations_by_label on annotations (label, run_id) where label is not null and run_id is not null',
  ]),

  // The words of stored texts.
  '023_run_texts': steps(textTables),

  // Runs of one task are adjacent. Most services name no tasks, and their index is empty.
  '025_runs_by_task': steps(['create index runs_by_task on runs (task, started_us, id) where task is not null']),

  // Changes by later revisions of runs. Most runs have one revision, and no row.
  '026_run_revisions': steps([
    `create table run_revisions (
       run_id integer not null references runs (id) on delete cascade, revision integer not null, changes text not null,
       primary key (run_id, revision)) strict, without rowid`,
  ]),

  // Runs that people are to answer questions about, and their answers.
  '022_queues': steps([
    `create table queue_items (
       id integer primary key autoincrement, run_id integer not null references runs (id) on delete cascade, queue text not null,
       tenant text not null, trace_id text not null, span_id text not null, why text not null, added_by text not null,
       entered_us integer not null, due_us integer, state text not null, closed_us integer,
       answers integer not null default 0, skips integer not null default 0,
       holder text, leased_us integer, fence integer not null default 0, is_lapsed integer not null default 0,
       unique (run_id, queue)) strict`,
    'create index queue_items_in_order on queue_items (queue, state, entered_us, id)',
    "create index queue_items_due on queue_items (due_us) where state = 'open' and due_us is not null",
    "create index queue_items_leased on queue_items (leased_us) where state = 'open' and holder is not null",
    "create index queue_items_held on queue_items (queue, holder) where state = 'open' and holder is not null",
    `create table queue_responses (
       item_id integer not null references queue_items (id) on delete cascade, person text not null, kind text not null, at_us integer not null,
       fence integer not null, response text not null, comment text not null,
       primary key (item_id, person)) strict, without rowid`,
  ]),

  // Figures by agent, tool, model and evaluator over time, and the runs' values for them.
  '024_rollups': steps([
    'alter table runs add column models text',
    'alter table runs add column failures text',
    `create table rollups (
       kind text not null, width_us integer not null, at_us integer not null, tenant text not null, agent text not null, name text not null, body text not null,
       primary key (kind, width_us, at_us, tenant, agent, name)) strict, without rowid`,
    'create index rollups_by_time on rollups (width_us, at_us)',
    'create table rollup_changes (at_us integer primary key) strict',
    'create table rollup_days (until_us integer not null) strict',
    'insert into rollup_days values (0)',
    // Stored runs are summed step by step.
    `insert into version_changes select distinct started_us / ${fineWidthMicros} * ${fineWidthMicros} from runs where true on conflict (at_us) do nothing`,
  ]),

  // Runs that rules have matched, until the rules have handled them.
  '027_rule_matches': steps([
    `create table rule_matches (
       kind text not null, rule text not null, run_id integer not null references runs (id) on delete cascade, at_us integer not null, residual text,
       primary key (kind, rule, run_id)) strict, without rowid`,
    'create index rule_matches_in_order on rule_matches (kind, at_us, run_id)',
    'create index rule_matches_by_run on rule_matches (run_id)',
  ]),

  // Durations by version are in the buckets of quantile sketches, as those over time do. A bucket of before goes into the one of its middle.
  '030_duration_buckets': steps(
    ['version_figures', 'version_days', 'version_totals'].flatMap((table) => [
      `create temp table moved_durations as select * from ${table} where kind = 'duration'`,
      `delete from ${table} where kind = 'duration'`,
      `update moved_durations set name = case name when '0' then 'zero'
         else cast(cast(ceil(ln(2 * pow(1.1, name) / 2.1) / ln(1.02 / 0.98)) as integer) as text) end`,
      `insert into ${table} select * from moved_durations`,
      'drop table moved_durations',
    ]),
  ),

  // Runs that did not end well. Most runs are ok, and have no entry.
  '031_run_status': steps(["create index runs_by_status on runs (status, started_us, id) where status <> 'ok'"]),

  // The maker of the results of an experiment, and the time of the last one. Experiments of runners have provenance.
  '033_experiment_origins': steps([
    'alter table experiments add column from_spans integer not null default 0',
    'alter table experiments add column changed_us integer not null default 0',
    `update experiments set changed_us = coalesce(ended_us, began_us), from_spans = provenance = '{}' and evaluators = '[]'`,
    'create index experiments_by_change on experiments (changed_us)',
    'create index experiments_by_source on experiments (tenant, from_spans)',
    "create index experiments_open on experiments (changed_us) where from_spans = 1 and state = 'running'",
  ]),

  // Bounds of each tenant are counted without a look at the rows of others.
  '034_counts_by_tenant': steps([
    'create index annotations_waiting_by_tenant on annotations (tenant) where run_id is null',
    "create index queue_items_open_by_tenant on queue_items (queue, tenant) where state = 'open'",
  ]),

  // People's notes on alerts: silences until they end, and the person who looks after one that fires.
  '036_alert_marks': steps([
    `create table alert_marks (
       id integer primary key, kind text not null, alert text not null, agent text, tenant text not null, author text not null, note text not null,
       at_ms real not null, until_ms real, firing_ms real) strict`,
  ]),

  // For a verdict of a sample: how far the probability of its run was raised, and the part of samplers before the service. Sums by version have shares of the least probability in place of the
  // largest weight, and their mean run of a session: they are summed again where their runs are there.
  '037_least_probabilities': steps([
    'alter table judge_jobs add column raised_by real',
    'alter table judge_jobs add column upstream real',
    ...['version_figures', 'version_days', 'version_totals'].flatMap((table) => [
      `alter table ${table} add column share real not null default 0`,
      `alter table ${table} add column share_value real not null default 0`,
      // The largest weight of all times, as one time may have only raised runs.
      `create temp table weights as select agent, tenant, version, kind, name, max(weight_max) as most from ${table} group by 1, 2, 3, 4, 5`,
      'create index temp.weights_of on weights (agent, tenant, version, kind, name)',
      `update ${table} set share = weight / w.most, share_value = value / w.most from weights as w
         where w.most > 0 and w.agent = ${table}.agent and w.tenant = ${table}.tenant and w.version = ${table}.version
           and w.kind = ${table}.kind and w.name = ${table}.name`,
      'drop table weights',
      `alter table ${table} drop column weight_max`,
    ]),
    `insert into version_changes select distinct started_us / ${fineWidthMicros} * ${fineWidthMicros} from runs where true on conflict (at_us) do nothing`,
  ]),

  // Runs that a queue drew at random, and their labels. Existing items count as chosen in an unknown way.
  '038_drawn_labels': steps([
    'alter table annotations add column probability real',
    'alter table queue_items add column is_chosen integer not null default 1',
    'alter table queue_items add column draw real',
    'alter table queue_items add column judged real',
    'alter table queue_items add column rate real',
    'alter table queue_items add column is_ahead integer not null default 0',
    'drop index queue_items_open_by_tenant',
    "create index queue_items_open_by_tenant on queue_items (queue, tenant, draw) where state = 'open' or is_ahead = 1",
  ]),

  // A queue decides once on each run that it is offered. Drawn items without an evaluator have labels of chosen runs: it is not known which of them the draw holds for.
  '039_draws_once': steps([
    'alter table queue_items add column drawn_by text',
    `create table queue_offers (
       run_id integer not null references runs (id) on delete cascade, queue text not null, primary key (run_id, queue)) strict, without rowid`,
    'insert into queue_offers select run_id, queue from queue_items where draw is not null',
    `create table queue_turns (
       queue text not null, tenant text not null, turns integer not null, primary key (queue, tenant)) strict, without rowid`,
    'insert into queue_turns select queue, tenant, sum(answers + skips) from queue_items group by 1, 2',
  ]),

  // Position of people in the random order.
  '040_draw_cutoff': steps([
    'alter table queue_items add column cutoff real not null default 0',
    'create index queue_items_unsettled on queue_items (queue, cutoff) where cutoff < rate',
  ]),

  // Processes on one database: who is there, who does which task, and what they share. The process that sends a row or polls a batch holds it by a lease.
  '041_replicas': steps([
    `create table replicas (
       id text primary key, host text not null, version text not null, configuration text not null, started_us integer not null, seen_us integer not null) strict, without rowid`,
    'create table tasks (name text primary key, owner text not null, until_us integer not null) strict, without rowid',
    'create table shared_secrets (name text primary key, value text not null) strict, without rowid',
    `create table browser_sessions (
       hash text primary key, holder text not null, anti_forgery text not null, expires_us integer not null) strict, without rowid`,
    'create index browser_sessions_by_end on browser_sessions (expires_us)',
    'create table run_positions (position integer not null) strict',
    'insert into run_positions values (0)',
    'alter table exports add column owner text',
    'alter table exports add column leased_us integer',
    'alter table judge_batches add column owner text',
    'alter table judge_batches add column leased_us integer',
  ]),

  // Partitions of a shared journal: their owners, and how far those are.
  '042_journal_partitions': steps([
    `create table journal_partitions (
       topic text not null, partition integer not null, epoch integer not null, owner text not null, next_offset integer not null,
       read_offset integer not null, open_offsets text not null, changed_us integer not null,
       primary key (topic, partition)) strict, without rowid`,
  ]),

  // Functions of PostgreSQL read JSON with halves of pairs of surrogates. SQLite does so by itself.
  '043_lone_surrogates': steps([], jsonFunctions),

  // Leases count by the clock of the database. The difference of a replica's clock from it.
  '044_lease_clock': steps([addSkew], [leaseClock, addSkew]),

  // Issues: classes of failed verdicts, their runs, and sums of these. The id of an issue is the beginning of its fingerprint.
  '045_issues': steps([
    `create table issues (
       id integer not null primary key, tenant text not null, agent text not null, evaluator text not null, tool text not null, signature text not null,
       state text not null, changed_us integer not null, person text not null, note text not null, fix text, fix_version text, until_us integer, until_runs integer,
       merged_into integer, runs integer not null, first_us integer not null, last_us integer not null, first_version text not null, last_version text not null,
       is_told integer not null) strict, without rowid`,
    'create index issues_by_time on issues (last_us, id)',
    'create index issues_by_agent on issues (agent)',
    `create table issue_runs (
       run_id integer not null references runs (id) on delete cascade, issue integer not null references issues (id) on delete cascade,
       started_us integer not null, version text not null, primary key (run_id, issue)) strict, without rowid`,
    'create index issue_runs_by_time on issue_runs (issue, started_us, run_id)',
    `create table issue_hours (
       issue integer not null references issues (id) on delete cascade, at_us integer not null, version text not null, runs integer not null,
       primary key (issue, at_us, version)) strict, without rowid`,
    'create index issue_hours_by_time on issue_hours (at_us)',
  ]),

  // A resolved issue comes back with runs that are stored after the decision only. Messages about issues that are still to be sent.
  '046_issue_notices': steps([
    'alter table issues add column after_run integer not null default 0',
    'alter table issues add column untold text',
    'create index issues_untold on issues (changed_us) where untold is not null',
  ]),

  // The order of issues is kept: their runs of a day and of the week before, by the hour up to which these were counted.
  '047_recent_issues': steps(
    ['recent_us', 'day_runs', 'week_runs'].map((column) => `alter table issues add column ${column} integer not null default 0`),
  ),

  // The user and the environment of a run.
  '048_users': steps(['alter table runs add column user_id text', 'alter table runs add column environment text']),

  // Sessions of issues, by the day of their first run with the failure.
  '049_issue_sessions': steps([
    `create table issue_sessions (
       issue integer not null references issues (id) on delete cascade, session text not null, at_us integer not null,
       primary key (issue, session)) strict, without rowid`,
    `insert into issue_sessions select r.issue, runs.session_id, min(r.started_us - r.started_us % 86400000000)
       from issue_runs as r join runs on runs.id = r.run_id where runs.session_id <> '' group by 1, 2`,
  ]),

  // Their number is kept, and counted by the next look.
  '050_session_counts': steps(['alter table issues add column sessions integer not null default 0', 'update issues set recent_us = 0']),

  // Positions of unfinished replays.
  '019_replay': steps([
    `create table replays (
       id text primary key, state text not null, to_us integer not null, after_us integer not null, after_id integer not null,
       written integer not null, changed integer not null, gone integer not null, at_us integer not null) strict, without rowid`,
  ]),
};

/** One migration: these statements, in this order. PostgreSQL executes its own ones where they are given, else the same. */
function steps(statements: readonly string[], inPostgres = statements): Step {
  return {
    statements: inPostgres,
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

/** All of them, in order: the tables of a new database have every step. */
export const stepNames: readonly string[] = Object.keys(migrations).toSorted();

/** The statements of a step; `undefined` for a step of SQLite only. */
export function statementsOf(name: string): readonly string[] | undefined {
  return name < firstShared ? undefined : migrations[name]?.statements;
}

/** A table that is there until a copy into this store is whole. */
export const unfinishedCopy = 'unfinished_copy';

/** Brings older files up to date, and refuses those of a newer release: they may hold what this one would break. `until`: the last step, for tests. */
export async function migrated(db: Kysely<Tables>, file: string, until?: string): Promise<void> {
  const known = await appliedNames(db, file);
  const newer = known.filter((name) => !Object.hasOwn(migrations, name));
  if (newer.length > 0) throw new JuryError('STORE_UNUSABLE', `${file} was written by a newer release: it knows ${newer.join(', ')}.`);
  if (known.length === Object.keys(migrations).length) return;
  // A step may be missing below one that is there: each adds what no other one touches.
  const wanted = Object.entries(migrations).filter(([name]) => until === undefined || name <= until);
  const provider = { getMigrations: async () => Object.fromEntries(wanted) };
  const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true });
  // Steps commit some 170 times. The log keeps their order, so a crash takes away the last ones only, and the next start makes them again.
  await sql`pragma synchronous = normal`.execute(db);
  const { error } = await migrator.migrateToLatest();
  await sql`pragma synchronous = full`.execute(db);
  if (error !== undefined) throw new JuryError('STORE_UNUSABLE', `${file} could not be brought up to date and is unchanged.`, error);
}

async function appliedNames(db: Kysely<Tables>, file: string): Promise<readonly string[]> {
  const tables = await sql<{ readonly name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
  const names = new Set(tables.rows.map(({ name }) => name));
  if (names.size === 0) return [];
  if (names.has(unfinishedCopy))
    throw new JuryError(
      'STORE_UNUSABLE',
      `${file} holds an unfinished copy: run the same command tracejury store copy again: it continues where it stopped.`,
    );
  if (!names.has('kysely_migration')) throw new JuryError('STORE_UNUSABLE', `${file} is an SQLite database of something else.`);
  const applied = await sql<{ readonly name: string }>`select name from kysely_migration`.execute(db);
  return applied.rows.map(({ name }) => name);
}
