/** The tables of the SQLite store, as the queries see them. Times are microseconds since the epoch. */
import type { Generated } from 'kysely';
import type { AlertTables } from './alert-tables.ts';
import type { IssueTables } from './issue-tables.ts';
import type { ReplicaTables } from './replica-tables.ts';

export interface Tables extends AlertTables, IssueTables, ReplicaTables {
  readonly runs: RunsTable;
  readonly run_revisions: RunRevisionsTable;
  readonly verdict_marks: VerdictMarksTable;
  readonly run_texts: RunTextsTable;
  readonly run_texts_state: RunTextsStateTable;
  readonly run_texts_waiting: RunTextsWaitingTable;
  readonly blocks: BlocksTable;
  readonly spans: SpansTable;
  readonly joined_traces: JoinedTracesTable;
  readonly exports: ExportsTable;
  readonly annotations: AnnotationsTable;
  readonly judge_spend: JudgeSpendTable;
  readonly judge_reservations: JudgeReservationsTable;
  readonly judge_minutes: JudgeMinutesTable;
  readonly judge_jobs: JudgeJobsTable;
  readonly judge_answers: JudgeAnswersTable;
  readonly judge_batches: JudgeBatchesTable;
  readonly judge_batch_questions: JudgeBatchQuestionsTable;
  readonly drift_looks: DriftLooksTable;
  readonly processes: ProcessesTable;
  readonly sessions: SessionsTable;
  readonly session_turns: SessionTurnsTable;
  readonly version_figures: VersionFiguresTable;
  readonly version_changes: VersionChangesTable;
  readonly version_pruned: VersionPrunedTable;
  readonly rollups: RollupsTable;
  readonly rollup_changes: RollupChangesTable;
  readonly rollup_days: RollupDaysTable;
  readonly datasets: DatasetsTable;
  readonly dataset_versions: DatasetVersionsTable;
  readonly dataset_examples: DatasetExamplesTable;
  readonly experiments: ExperimentsTable;
  readonly experiment_results: ExperimentResultsTable;
  readonly replays: ReplaysTable;
  readonly queue_items: QueueItemsTable;
  readonly queue_responses: QueueResponsesTable;
  readonly queue_offers: QueueOffersTable;
  readonly queue_turns: QueueTurnsTable;
  readonly rule_matches: RuleMatchesTable;
  readonly journal_partitions: JournalPartitionsTable;
}

interface ProcessesTable {
  readonly id: Generated<number>;
  readonly tenant: string;
  readonly agent: string;
  readonly version: string;
  readonly runs: number;
  readonly is_frozen: number;
  readonly began_us: number;
  readonly changed_us: number;
  readonly used_us: number;
  readonly model: string;
}

interface RunRevisionsTable {
  readonly run_id: number;
  readonly revision: number;
  readonly changes: string;
}

interface RunsTable {
  readonly id: Generated<number>;
  readonly tenant: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly agent: string | null;
  readonly service: string | null;
  readonly version: string | null;
  readonly session_id: string | null;
  readonly model: string | null;
  readonly started_us: number;
  readonly ended_us: number;
  readonly completeness: string;
  readonly status: string;
  readonly revision: number;
  readonly part_of: string | null;
  /** Why there is no content. */
  readonly content_gone: string | null;
  /** A character for each evaluator that has said something. */
  readonly marks: string;
  /** Numbers of the marks: doubles, little-endian. */
  readonly figures: Uint8Array | null;
  /** Calls by tool, as JSON. */
  readonly tools: string | null;
  /** Verdicts and decisions as JSON, in a block; null: there are none. */
  readonly verdicts_block: number | null;
  readonly verdicts_at: number | null;
  readonly verdicts_length: number | null;
  /** The run as JSON, in a block; null: not kept. */
  readonly content_block: number | null;
  readonly content_at: number | null;
  /** Null for the whole block. */
  readonly content_length: number | null;
  readonly user_id: string | null;
  readonly environment: string | null;
  /** Hash of the system prompt. */
  readonly prompt: string | null;
  readonly task: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost_usd: number | null;
  /** The beginning of the input; it goes with the content. */
  readonly excerpt: string | null;
  /** Calls by model, as JSON; null: there are none. */
  readonly models: string | null;
  /** Arguments that schemas refuse, as JSON; null: there are none. */
  readonly failures: string | null;
}

/** The index of words; its row ids are those of runs. */
interface RunTextsTable {
  readonly rowid: number;
}

/** One row: the first and the last run of those in the index. */
interface RunTextsStateTable {
  readonly newest_id: number;
  readonly oldest_id: number;
}

/** Runs whose content has changed since they came into the index. */
interface RunTextsWaitingTable {
  readonly run_id: number;
}

/** Figures of the runs of a time, by agent and by the kind's key. Empty when there is none. */
interface RollupsTable {
  readonly kind: string;
  readonly width_us: number;
  readonly at_us: number;
  readonly tenant: string;
  readonly agent: string;
  readonly name: string;
  /** Counts, sketches and keyed counts, as JSON. */
  readonly body: string;
}

/** Hours that are to be summed again. */
interface RollupChangesTable {
  readonly at_us: number;
}

/** One row. */
interface RollupDaysTable {
  /** Days before it are summed. */
  readonly until_us: number;
}

/** Sums over the runs of a time and a version. The empty text: there is none. */
export interface VersionFiguresTable {
  readonly tenant: string;
  readonly agent: string;
  readonly version: string;
  /** Empty: over all tasks. */
  readonly task: string;
  /** The summed figure. */
  readonly kind: string;
  /** Name of the evaluator, the model, the prompt or the bin. */
  readonly name: string;
  readonly at_us: number;
  readonly width_us: number;
  readonly runs: number;
  readonly weight: number;
  readonly value: number;
  /** Sums of the shares of the least probability: Σ s and Σ s·value. */
  readonly share: number;
  readonly share_value: number;
  readonly first_us: number;
  readonly last_us: number;
}

/** Times whose runs have changed since they were summed. */
interface VersionChangesTable {
  readonly at_us: number;
}

/** One row. */
interface VersionPrunedTable {
  /** Start of the last run that was pruned. */
  readonly until_us: number;
}

/** Their characters follow from the codes. */
interface VerdictMarksTable {
  readonly code: Generated<number>;
  /** JSON. */
  readonly mark: string;
}

interface BlocksTable {
  readonly id: Generated<number>;
  /** Texts that runs refer to. */
  readonly live: number;
  /** Texts, compressed together. */
  readonly body: Uint8Array;
}

interface SpansTable {
  readonly id: Generated<number>;
  readonly tenant: string;
  readonly trace_id: string;
  readonly digest: string;
  readonly started_us: number;
  readonly stored_us: number;
  readonly spans: number;
  readonly is_whole: number;
  readonly is_redacted: number;
  readonly body: Uint8Array;
}

/** Traces whose spans are kept with those of another one. */
interface JoinedTracesTable {
  readonly tenant: string;
  readonly trace_id: string;
  readonly whole_id: string;
}

interface ExportsTable {
  readonly id: Generated<number>;
  readonly run_id: number;
  readonly exporter: string;
  readonly part: string;
  readonly revision: number;
  readonly state: string;
  readonly attempts: number;
  readonly offered_us: number;
  readonly due_us: number;
  readonly reason: string | null;
  /** The item as compressed JSON. */
  readonly item: Uint8Array;
  /** The process that sends it until then; null where a single process has the store. */
  readonly owner: string | null;
  readonly leased_us: number | null;
}

interface AnnotationsTable {
  readonly id: Generated<number>;
  readonly trace_id: string;
  /** `*` matches the tenant of the trace. */
  readonly tenant: string;
  /** Empty: the outermost run of the trace. */
  readonly span_id: string;
  /** Empty: the run as a whole. */
  readonly tool_call: string;
  readonly is_near: number;
  readonly name: string;
  readonly annotator: string;
  readonly kind: string;
  readonly label: string | null;
  readonly score: number | null;
  readonly passed: number | null;
  readonly explanation: string;
  /** When it was given. */
  readonly at_us: number;
  readonly received_us: number;
  /** Null while it waits for its run. */
  readonly run_id: number | null;
  /** With which a queue drew the run; null: it was chosen. */
  readonly probability: number | null;
}

interface JudgeSpendTable {
  readonly account: string;
  readonly day: string;
  readonly nano_usd: number;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

interface JudgeReservationsTable {
  readonly account: string;
  readonly day: string;
  readonly owner: string;
  readonly nano_usd: number;
  readonly requests: number;
  readonly tokens: number;
  readonly renewed_us: number;
}

/** May have been used in the last seconds. */
interface JudgeMinutesTable {
  readonly account: string;
  readonly second: number;
  readonly requests: number;
  readonly tokens: number;
}

interface JudgeJobsTable {
  readonly id: Generated<number>;
  readonly run_id: number;
  readonly name: string;
  readonly revision: number;
  readonly evaluator: string;
  readonly kind: string;
  readonly party: string;
  readonly options_hash: string;
  readonly probability: number;
  /** Null when it was not raised. */
  readonly raised_by: number | null;
  /** Null when there was no sampler before the service. */
  readonly upstream: number | null;
  readonly offered_us: number;
  /** The run, compressed. */
  readonly body: Uint8Array;
  /** The process that asks about it, and until when; null when none does. */
  readonly owner: string | null;
  readonly leased_us: number | null;
}

/** Jobs of one evaluator. */
interface SessionsTable {
  readonly id: Generated<number>;
  readonly tenant: string;
  readonly session_id: string;
  readonly name: string;
  readonly evaluator: string;
  readonly kind: string;
  readonly party: string;
  readonly options_hash: string;
  /** Null when it was passed over. */
  readonly probability: number | null;
  readonly revision: number;
  /** The revision that was made a job last. */
  readonly handed_on: number;
  /** Number of times that one was. */
  readonly times: number;
  /** Turns that had no room. */
  readonly left_out: number;
  /** The first change since then. */
  readonly since_us: number;
  readonly changed_us: number;
  /** Key of its job and its verdict. */
  readonly run_id: number | null;
}

interface SessionTurnsTable {
  readonly session: number;
  readonly run_id: number;
  readonly revision: number;
  readonly started_us: number;
  /** When it came. */
  readonly noted_us: number;
  /** The run, compressed. */
  readonly body: Uint8Array;
}

interface JudgeAnswersTable {
  readonly key: string;
  readonly answered_us: number;
  /** Hash of the value. */
  readonly chars: number;
  /** JSON. */
  readonly value: string;
}

interface JudgeBatchesTable {
  readonly id: string;
  readonly judge: string;
  readonly endpoint: string;
  /** Null when it is not known whether it was created. */
  readonly remote_id: string | null;
  readonly prepared_us: number;
  /** The process that looks after it, and until when. */
  readonly owner: string | null;
  readonly leased_us: number | null;
}

interface JudgeBatchQuestionsTable {
  readonly question: string;
  /** Null once it is answered. */
  readonly batch_id: string | null;
  readonly answered_us: number | null;
  readonly answer: string | null;
}

interface DriftLooksTable {
  readonly name: string;
  readonly series: number;
  /** 0 is the baseline. */
  readonly look: number;
  readonly series_began_us: number;
  /** JSON. */
  readonly asked: string;
  /** JSON. */
  readonly because: string;
  readonly state: string;
  readonly began_us: number;
  readonly ended_us: number | null;
  readonly runs: number;
  /** JSON. */
  readonly answers: string;
  /** JSON. */
  readonly result: string | null;
}

interface DatasetsTable {
  readonly id: Generated<number>;
  readonly tenant: string;
  readonly name: string;
  /** The newest one. */
  readonly version: number;
  /** Number of examples of the newest version. */
  readonly examples: number;
  readonly created_us: number;
  readonly changed_us: number;
}

interface DatasetVersionsTable {
  readonly dataset_id: number;
  readonly version: number;
  readonly at_us: number;
  readonly made_by: string;
  readonly note: string | null;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly examples: number;
}

/** One body of an example. */
interface DatasetExamplesTable {
  readonly id: Generated<number>;
  readonly dataset_id: number;
  readonly example_id: string;
  /** The order of the examples; it stays when the body changes. */
  readonly place: number;
  readonly from_version: number;
  /** The first version without this body; null: the newest one has it. */
  readonly until_version: number | null;
  readonly is_draft: number;
  readonly split: string | null;
  /** JSON. */
  readonly tags: string;
  readonly fingerprint: string;
  readonly digest: string;
  /** JSON, compressed when it is long. */
  readonly body: Uint8Array;
}

interface ExperimentsTable {
  readonly id: Generated<number>;
  readonly tenant: string;
  readonly experiment_id: string;
  readonly name: string;
  /** Its name, to search by. */
  readonly dataset: string | null;
  readonly repeats: number;
  readonly state: string;
  readonly began_us: number;
  readonly ended_us: number | null;
  /** Number of results. */
  readonly results: Generated<number>;
  /** 1 when it was made from spans, and their runs are its results. */
  readonly from_spans: Generated<number>;
  /** When it began, or its last result came. */
  readonly changed_us: Generated<number>;
  /** JSON. */
  readonly dataset_facts: string | null;
  /** JSON. */
  readonly provenance: string;
  /** JSON. */
  readonly evaluators: string;
}

interface ExperimentResultsTable {
  readonly id: Generated<number>;
  readonly experiment: number;
  readonly example_id: string;
  readonly repeat: number;
  readonly status: string;
  /** Null when the result has no run. */
  readonly trace_id: string | null;
  readonly span_id: string | null;
  /** JSON, compressed when it is long. */
  readonly body: Uint8Array;
}

/** Checkpoints of unfinished replays. */
type JournalPartitionsTable = Record<'topic' | 'owner' | 'open_offsets', string> &
  Record<'partition' | 'epoch' | 'next_offset' | 'read_offset' | 'changed_us', number>;

interface ReplaysTable {
  readonly id: string;
  /** JSON. */
  readonly state: string;
  readonly to_us: number;
  readonly after_us: number;
  readonly after_id: number;
  readonly written: number;
  readonly changed: number;
  readonly gone: number;
  readonly at_us: number;
}

/** Runs in annotation queues. */
/** Runs whose draw is decided, drawn or not. */
interface QueueOffersTable {
  readonly run_id: number;
  readonly queue: string;
}

interface QueueTurnsTable {
  readonly queue: string;
  readonly tenant: string;
  /** Answers and skips. */
  readonly turns: number;
}

interface QueueItemsTable {
  readonly id: Generated<number>;
  readonly run_id: number;
  readonly queue: string;
  readonly tenant: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly why: string;
  readonly added_by: string;
  readonly entered_us: number;
  /** Null when it never expires. */
  readonly due_us: number | null;
  readonly state: string;
  /** Null while it is open. */
  readonly closed_us: number | null;
  readonly answers: Generated<number>;
  readonly skips: Generated<number>;
  /** The person with the lease, or null. */
  readonly holder: string | null;
  /** The end of the lease. */
  readonly leased_us: number | null;
  /** The number of the newest lease. */
  readonly fence: Generated<number>;
  /** 1: the end of the lease is counted. */
  readonly is_lapsed: Generated<number>;
  /** 0: the queue drew it, and neither a rule nor a person chose it. */
  readonly is_chosen: Generated<number>;
  /** Its number in the random order, as in `QueueDraw`; null: it was not drawn. */
  readonly draw: number | null;
  /** The probability with which it was judged. */
  readonly judged: number | null;
  /** Runs with a number below it were drawn. */
  readonly rate: number | null;
  /** All drawn runs with a lower number were handed out since it entered; at most `rate`. Its label counts when its own number is below. */
  readonly cutoff: Generated<number>;
  /** The evaluator whose verdict was drawn; null: it was not drawn. */
  readonly drawn_by: string | null;
  /** 1: people answered before it was drawn, and their labels count as drawn when the random order comes to it. */
  readonly is_ahead: Generated<number>;
}

/** One person's response to one item. */
interface QueueResponsesTable {
  readonly item_id: number;
  readonly person: string;
  readonly kind: string;
  readonly at_us: number;
  /** The number of the lease. */
  readonly fence: number;
  /** Values by question, as JSON. */
  readonly response: string;
  readonly comment: string;
}

/** Runs that wait for a rule. */
interface RuleMatchesTable {
  readonly kind: string;
  readonly rule: string;
  readonly run_id: number;
  readonly at_us: number;
  /** Conditions on the stored run, as JSON; null when the run matches. */
  readonly residual: string | null;
}
