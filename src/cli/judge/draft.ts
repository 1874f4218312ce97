/** `tracejury judge draft`: drafts a judge evaluator from labels of people, and checks it on labels that the draft has not seen. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { configuredEvaluator, type ConfiguredJudge } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { Question } from '../../../evaluators/evaluator.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { type DraftWords, judgeDraft } from '../../../evaluators/judging/judge-draft.ts';
import { type CommandInput, type ExitCode, UsageError, writeOutput } from '../command.ts';
import { readInputs } from '../eval/inputs.ts';
import { inputOf, readBodies } from '../inspect/recording.ts';
import { chosenJudge, type ReplayJudges, replayJudges } from '../replay/judge-modes.ts';
import { type CheckResult, checkResultOf, resultJson, resultLines } from './check.ts';
import { priceOfJudge, wholeRun } from './forecast.ts';
import { labelsOn, readLabelFiles, readLabels } from './labels.ts';
import { labelledRuns, runKeyText } from '../../analytics/corrected-rate.ts';
import {
  configuredDraft,
  type DraftEntry,
  draftEntry,
  type DraftLabel,
  draftLabel,
  draftRuns,
  type Halves,
  halvesOf,
  tooFewLabels,
} from '../../analytics/judge-draft.ts';
import type { Config, JudgeConfig } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { readConfig } from '../../config/load.ts';
import { questionsForecast } from '../../judges/budget/question-cost.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Tenant } from '../../model/ids.ts';
import { isJsonObject, jsonText } from '../../model/json.ts';
import { oneLine } from '../../model/one-line.ts';
import { type AnnotatedRun, annotationRowsMax } from '../../model/store/annotation-store.ts';
import type { Store } from '../../model/store/store.ts';
import { type Verdict, verdictWord } from '../../model/verdict.ts';
import { redactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import type { Redaction } from '../../redaction/redaction.ts';
import { thousands } from '../../report/text.ts';
import { withinBudget } from '../../runtime/within-budget.ts';
import { clock } from '../../service/node-runtime.ts';
import { mayBeThere, openStore, storeName } from '../../stores/index.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

interface DraftSettings {
  /** Recorded runs with labels; without files, the store of the configuration has both. */
  readonly files: readonly string[];
  readonly labels: readonly string[];
  readonly config: string;
  /** Name of the labels. Default: the only one. */
  readonly name: string | undefined;
  readonly judge: string | undefined;
  /** Without it nothing is asked and nothing is written. */
  readonly budgetUsd: number | undefined;
  readonly output: string | undefined;
  readonly tenant: Tenant;
  readonly format: 'text' | 'json';
}

/** Labelled runs that are read, the newest; they are in memory with their content. */
const runsMax = 2_000;
/** Labels of the other half that the judge is asked about. */
const heldMax = 200;

export async function draftOfJudge(settings: DraftSettings, input: CommandInput): Promise<ExitCode> {
  const { config } = await readConfig({ file: settings.config, env: input.env, evaluators });
  const judge = chosenJudge(config, settings.judge, 'judge draft');
  const { address } = config.store;
  const store = address.scheme !== 'memory' && mayBeThere(address) ? await openStore(address) : undefined;
  try {
    if (store === undefined && settings.files.length === 0)
      throw new UsageError(
        address.scheme === 'memory'
          ? 'store.url is memory:, which only its own process can read. Name files of labelled runs.'
          : `There is no store at ${storeName(address)}. Name a configuration that has one with -c, or files of labelled runs.`,
      );
    return await drafted(settings, { config, judge, store }, input);
  } finally {
    await store?.stop();
  }
}

interface DraftWith {
  readonly config: Config;
  readonly judge: JudgeConfig;
  readonly store: Store | undefined;
}

async function drafted(settings: DraftSettings, own: DraftWith, input: CommandInput): Promise<ExitCode> {
  const { config, judge } = own;
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const found = await labelsOf(settings, own, redaction);
  const output = settings.output ?? `${found.name.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 80)}.judge.yaml`;
  // Known before anything is spent.
  if (existsSync(output)) throw new UsageError(`${output} is already there. Name another file with --output.`);
  if (!existsSync(dirname(output))) throw new UsageError(`--output: there is no folder ${dirname(output)}.`);
  const all = halvesOf(found.labels);
  const lack = tooFewLabels(all);
  if (lack !== undefined) {
    input.complain(`${foundText(found)} ${lack}`);
    return 2;
  }
  const halves: Halves = { ...all, held: all.held.slice(0, heldMax) };
  const unasked = all.held.length - halves.held.length;
  const name = config.evaluators.some(({ configured }) => configured.name === found.name) ? `${found.name}_draft` : found.name;
  const asking = drafting(found.name, halves.draft);
  const forecast = questionsForecast(
    firstQuestions(asking, configuredDraft(draftEntry(name, halves.draft, usualWords)), halves),
    priceOfJudge(config, judge.name),
  );
  const { questions, inputTokens, outputTokens, usd } = forecast;
  input.complain(
    `${foundText(found)} ${halves.draft.length} are for the draft, ${halves.held.length}${unasked === 0 ? '' : ` of ${all.held.length}`} for the check. ${questions} questions to ${judge.name}, about ${thousands(inputTokens)} input and ${thousands(outputTokens)} output tokens, ${usd === undefined ? 'at no known price' : `about ${usdText(usd)}`}.`,
  );
  if (settings.budgetUsd === undefined) {
    input.complain('The judge was not asked, and nothing is written. --budget USD asks it, within this sum and its own budget.');
    return 0;
  }
  const judges = await judgesOf({ ...own, budgetUsd: settings.budgetUsd, redaction }, input);
  try {
    const words = await wordsOf(asking, halves.draft, { judges, judge });
    if (typeof words === 'string') {
      input.complain(`There is no draft: ${words}.`);
      return 1;
    }
    const entry = draftEntry(name, halves.draft, words);
    const result = await checked(entry, halves.held, { judges, judge, redaction });
    const report = { entry, words, found, halves, forecast, result, judge, output, config: settings.config };
    writeOutput('output', output, draftFile(report).trimEnd());
    input.say(settings.format === 'json' ? draftJson(report, await judges.spentUsd()) : draftText(report));
    input.complain(`Spent: ${usdText(await judges.spentUsd())}.`);
    return result.agreement === undefined ? 1 : 0;
  } finally {
    await judges.stop();
  }
}

/** The labels of one name, on runs as judges may see them. */
interface FoundLabels {
  readonly name: string;
  readonly labels: readonly DraftLabel[];
  /** Labels on which people disagree, or whose word has no meaning. */
  readonly unclear: number;
  /** Labels on runs that have no texts here. */
  readonly withoutText: number;
  /** Labels on older runs, which are not read. */
  readonly older: number;
}

async function labelsOf(settings: DraftSettings, { config, store }: DraftWith, redaction: Redaction | undefined): Promise<FoundLabels> {
  const { rows, runOf } = settings.files.length > 0 ? await inFiles(settings, config) : await inStore(settings, store);
  const ofRuns = rows.filter(({ annotation }) => annotation.toolCall === undefined);
  const name = nameOf(ofRuns, settings);
  const own = ofRuns.filter(({ annotation }) => annotation.name === name || annotation.name === unnamed);
  const { runs } = labelledRuns(own.map((row) => ({ ...row, annotation: { ...row.annotation, name } })));
  const clear = runs.filter((one) => one.passed !== undefined);
  const notesOf = Map.groupBy(own, runKeyText);
  const labels: DraftLabel[] = [];
  let withoutText = 0;
  for (const { key, passed, session } of clear.slice(0, runsMax)) {
    const given = notesOf.get(key) ?? [];
    const [first] = given;
    const run = first === undefined ? undefined : await runOf(first);
    if (run === undefined || passed === undefined) {
      withoutText++;
      continue;
    }
    const shown = redactedRun(run, redaction).run;
    const notes = given.map(({ annotation }) => redaction?.text(annotation.explanation) ?? annotation.explanation);
    const label = draftLabel({ run: shown, passed, notes, session: session ?? run.trace.sessionId });
    // Texts that are put together of several parts are searched once more.
    const texts = Object.fromEntries(Object.entries(label.texts).map(([part, text]) => [part, redaction?.text(text) ?? text]));
    if (Object.keys(texts).length === 0) withoutText++;
    else labels.push({ ...label, texts });
  }
  return { name, labels, unclear: runs.length - clear.length, withoutText, older: Math.max(0, clear.length - runsMax) };
}

const namesChars = 500;

/** The wanted name of labels, else the only one. */
function nameOf(rows: readonly AnnotatedRun[], { name, files }: DraftSettings): string {
  const names = [...new Set(rows.map(({ annotation }) => annotation.name))].sort();
  const named = names.filter((one) => one !== unnamed);
  const known = oneLine(named.join(', '), namesChars);
  if (rows.length === 0)
    throw new UsageError(
      `There are no labels on runs${name === undefined ? '' : ` with the name ${JSON.stringify(name)}`}. ${files.length > 0 ? 'Add passed, label or labels to runs, or name a file with --labels.' : 'People give them in the console, in queues or by the API; --tenant chooses a tenant.'}`,
    );
  if (name !== undefined && !names.includes(unnamed) && !named.includes(name))
    throw new UsageError(`There are no labels with the name ${JSON.stringify(name)}. There are ${known}.`);
  if (name === undefined && named.length > 1)
    throw new UsageError(`There are labels of several names. Choose one with --evaluator: ${known}.`);
  return name ?? named[0] ?? 'labelled';
}

interface Labelled {
  readonly rows: readonly AnnotatedRun[];
  /** `undefined` when its content is not there. */
  readonly runOf: (row: AnnotatedRun) => Promise<Run | undefined>;
}

async function inStore({ tenant, name }: DraftSettings, store: Store | undefined): Promise<Labelled> {
  if (store === undefined) return { rows: [], runOf: async () => undefined };
  const rows = await store.annotations.onRuns({
    from: 0,
    to: Math.floor(clock.nowMs() * 1_000),
    tenant,
    ...(name === undefined ? {} : { name }),
    kinds: ['human', 'user'],
    limit: annotationRowsMax,
  });
  return { rows, runOf: async (row) => await wholeRun(store, row) };
}

/** The name of a label that names no evaluator. */
const unnamed = '';

async function inFiles({ files, labels: labelFiles }: DraftSettings, config: Config): Promise<Labelled> {
  const bodies = await readBodies(files, process.stdin);
  const labels = [...readLabels(bodies), ...readLabelFiles(await readBodies(labelFiles, process.stdin))];
  const { items } = readInputs(bodies.map(inputOf), { reading: config, take: (item) => item });
  const runs = new Map(items.map(({ run }) => [runKeyText(run), run]));
  const rows = items.flatMap((item) =>
    labelsOn(item, labels).map(({ name = unnamed, by, passed, label, score, explanation }): AnnotatedRun => ({
      ...keyOf(item.run),
      annotation: { name, by, kind: 'human', label, score, passed, explanation, at: 0 },
      verdict: undefined,
    })),
  );
  return { rows, runOf: async (row) => runs.get(runKeyText(row)) };
}

function keyOf({ tenant, traceId, spanId }: Run): Pick<AnnotatedRun, 'tenant' | 'traceId' | 'spanId'> {
  return { tenant, traceId, spanId };
}

/** Fills the estimate: a draft that nothing has been asked for has no words yet. */
const usualWords: DraftWords = { criterion: 'x'.repeat(500), pass: 'x'.repeat(200), fail: 'x'.repeat(200) };

function drafting(name: string, draft: readonly DraftLabel[]): ConfiguredJudge {
  const runs = draftRuns(draft).map(({ passed, texts, notes }) => ({ passed, texts: { ...texts }, notes: [...notes] }));
  const made = configuredEvaluator({ use: judgeDraft.id, options: { name, runs } }, [judgeDraft]);
  if (made.kind === 'faulty' || made.evaluator.kind !== 'judge') throw new Error('faulty request for a draft');
  return made.evaluator;
}

/** The request for the draft, and the question on each run of the other half. */
function* firstQuestions(asking: ConfiguredJudge, draft: ConfiguredJudge, { draft: [first], held }: Halves): Generator<Question> {
  const context = evaluationContext();
  for (const { configured, label } of [{ configured: asking, label: first }, ...held.map((one) => ({ configured: draft, label: one }))]) {
    if (label === undefined) continue;
    const { done, value } = configured.judge(label.run.trace, {}, context, label.run).next();
    if (done !== true && value.kind !== 'call' && value.kind !== 'embed') yield value;
  }
}

async function judgesOf(
  { config, judge, store, budgetUsd, redaction }: DraftWith & { readonly budgetUsd: number; readonly redaction: Redaction | undefined },
  { complain }: CommandInput,
): Promise<ReplayJudges> {
  return await replayJudges({
    mode: 'ask',
    config: { ...config, judges: [judge] },
    store,
    budgetUsd,
    id: `judge-draft:${randomBytes(12).toString('hex')}`,
    day: new Date(clock.nowMs()).toISOString().slice(0, 10),
    mayStore: (text) => redaction === undefined || redaction.text(text) === text,
    onFault: (error) =>
      complain(
        `The costs or answers of the judge could not be read or written: ${error instanceof Error ? error.message : 'unknown error'}`,
      ),
  });
}

interface AskWith {
  readonly judges: ReplayJudges;
  readonly judge: JudgeConfig;
}

/** The words of the draft, or why there are none. */
async function wordsOf(
  configured: ConfiguredJudge,
  [first]: readonly DraftLabel[],
  { judges, judge }: AskWith,
): Promise<DraftWords | string> {
  if (first === undefined) return 'it has no labels';
  const end = await judges.ask(first.run, { configured, judge: judge.name, expected: {}, probability: 1 });
  if (end.kind === 'over_budget') return 'a budget has no room for the request. Raise --budget, or the budget of the judge';
  if (end.kind !== 'judged') return end.reason;
  const { verdict } = end;
  if (verdict.kind !== 'scored') return verdict.kind === 'failed' ? `the judge gave no usable answer (${verdict.error})` : verdict.reason;
  const { words } = verdict.details;
  return words !== undefined && isJsonObject(words) ? (words as unknown as DraftWords) : 'the judge gave no words';
}

/** Asks the draft about the half that it has not seen. */
async function checked(
  entry: DraftEntry,
  held: readonly DraftLabel[],
  { judges, judge, redaction }: AskWith & { readonly redaction: Redaction | undefined },
): Promise<CheckResult> {
  const configured = configuredDraft(entry);
  const ends = await withinBudget(held, judge.concurrency, async ({ run }): Promise<Verdict | string | undefined> => {
    const end = await judges.ask(run, redactedRun(run, redaction).work({ configured, judge: judge.name, expected: {}, probability: 1 }));
    if (end.kind === 'over_budget') return undefined;
    return end.kind === 'judged' ? end.verdict : end.reason;
  });
  const rows = held.map((label): AnnotatedRun => {
    const end = ends.get(label);
    const verdict = end === undefined || typeof end === 'string' ? undefined : end;
    return {
      ...keyOf(label.run),
      ...(label.session === undefined ? {} : { sessionId: label.session }),
      // The labels of this half are the whole that the figures speak of.
      annotation: {
        name: entry.name,
        by: 'people',
        kind: 'human',
        label: undefined,
        score: undefined,
        passed: label.passed,
        explanation: '',
        at: 0,
        probability: 1,
      },
      verdict:
        verdict === undefined
          ? undefined
          : {
              evaluator: entry.use,
              kind: 'judge',
              version: configured.evaluator.version,
              model: judge.model,
              word: verdictWord(verdict),
              label: verdict.kind === 'scored' ? verdict.label : '',
              sampleProbability: 1,
            },
    };
  });
  return checkResultOf(entry.name, rows);
}

interface DraftReport {
  readonly entry: DraftEntry;
  readonly words: DraftWords;
  readonly found: FoundLabels;
  readonly halves: Halves;
  readonly result: CheckResult;
  readonly judge: JudgeConfig;
  readonly output: string;
  readonly config: string;
}

const nameChars = 80;
const wordsChars = 2_000;

function foundText({ name, labels, unclear, withoutText, older }: FoundLabels): string {
  const passed = labels.filter((one) => one.passed).length;
  const left = [
    ...(unclear === 0 ? [] : [`${unclear} on which people disagree or whose word is unknown`]),
    ...(withoutText === 0 ? [] : [`${withoutText} without the texts of the run`]),
    ...(older === 0 ? [] : [`${older} on older runs`]),
  ];
  return `Labels of ${oneLine(name, nameChars)}: ${labels.length} runs, ${passed} pass and ${labels.length - passed} fail${left.length === 0 ? '' : `, without ${left.join(' and ')}`}.`;
}

function halvesLines({ draft, held, shared, sameInputs }: Halves): readonly string[] {
  return [
    `Drafted from ${draft.length} labelled runs, checked on ${held.length} others that the draft has not seen${shared === 0 ? '' : `; ${shared} with an input of the draft are left out`}`,
    ...(sameInputs
      ? ['⚠ The labelled runs have few different inputs, so both halves have the same ones. On new inputs the agreement may be lower.']
      : []),
  ];
}

function draftText({ entry, words, halves, result, output, config }: DraftReport): string {
  return [
    ...halvesLines(halves),
    `  criterion  ${oneLine(words.criterion, wordsChars)}`,
    `  pass       ${oneLine(words.pass, wordsChars)}`,
    `  fail       ${oneLine(words.fail, wordsChars)}`,
    '',
    ...resultLines(result),
    '',
    `Written to ${output}, and not in force: nothing reads this file. Read it, then copy the entry ${oneLine(entry.name, nameChars)} under evaluators of ${config}.`,
  ].join('\n');
}

function draftJson({ entry, words, found, halves, result, judge, output }: DraftReport, spentUsd: number): string {
  const { draft, held, shared, sameInputs } = halves;
  return jsonText({
    name: entry.name,
    judge: judge.name,
    output,
    labels: { usable: found.labels.length, unclear: found.unclear, without_text: found.withoutText, older: found.older },
    draft: draft.length,
    held: held.length,
    shared,
    same_inputs: sameInputs,
    criterion: words.criterion,
    pass: words.pass,
    fail: words.fail,
    check: resultJson(result),
    spent_usd: spentUsd,
  });
}

const sampleRate = 0.05;

/** A configuration of the one entry. The model's words and texts of runs are values of it; comments have none of them but the name. */
function draftFile({ entry, halves, result, judge, config }: DraftReport): string {
  const { use, name, ...more } = entry;
  const comments = [
    `Drafted by tracejury judge draft, and not in force: nothing reads this file.`,
    `Read every line, as a model has phrased the template and the examples are texts of runs.`,
    `To switch it on, copy the entry under evaluators of ${config}.`,
    '',
    ...halvesLines(halves),
    ...resultLines(result),
  ];
  const text = comments.map((line) => `# ${oneLine(line, wordsChars)}`.trimEnd()).join('\n');
  const written = { use, name, judge: judge.name, sample: { rate: sampleRate }, ...more };
  return `${text}\n${stringify({ evaluators: [written] }, literal, { lineWidth: 120 })}`;
}

/** A configuration substitutes `${…}` and `$$`. Texts of runs must not name variables of the environment. */
function literal(_key: unknown, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(/\$(?=[${])/g, '$$$$') : value;
}

function usdText(usd: number): string {
  return `${usd.toFixed(4)} USD`;
}
