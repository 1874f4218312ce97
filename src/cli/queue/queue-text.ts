/** Queues and items as lines of a terminal. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, plainText, objectsAt } from '../../model/json.ts';
import type { CommandInput } from '../command.ts';
import { oneLine } from '../../model/one-line.ts';

const cellChars = 60;
const textChars = 2_000;
const callsShownMax = 50;

function cell(of: JsonObject, key: string, charsMax = cellChars): string {
  return oneLine(plainText(member(of, key) ?? ''), charsMax);
}

function number(of: JsonObject, key: string): number {
  const value = member(of, key);
  return typeof value === 'number' ? value : 0;
}

export function queueLine(queue: JsonObject): string {
  const states = ['open', 'leased', 'done', 'skipped', 'expired'].map((state) => `${number(queue, state)} ${state}`).join(', ');
  return `${cell(queue, 'name').padEnd(24)}  ${states}${member(queue, 'configured') === false ? '  (not in the configuration)' : ''}`;
}

/** Shows a queue with its questions and the agreement of people. */
export function queueText(queue: JsonObject): readonly string[] {
  const people = number(queue, 'people');
  return [
    queueLine(queue),
    ...(member(queue, 'when') === null ? [] : [`when    ${cell(queue, 'when', textChars)}`]),
    `asks    ${people === 1 ? 'one person' : `${people} people`}, ${cell(queue, 'order')} first${randomText(number(queue, 'random'))}`,
    ...objectsAt(queue, 'ask').map((question) => `        ${questionText(question)}`),
    ...objectsAt(queue, 'agreement').map((one) => `agree   ${agreementText(one)}`),
    ...objectsAt(queue, 'by_person').map(
      (one) => `person  ${cell(one, 'person')}: ${number(one, 'answers')} answered, ${number(one, 'skips')} skipped`,
    ),
  ];
}

function randomText(share: number): string {
  return share === 0 ? '' : `; up to ${Math.round(share * 100)} % of the turns give a run drawn at random`;
}

function questionText(question: JsonObject): string {
  const [name, kind] = [cell(question, 'name'), cell(question, 'kind')];
  if (kind === 'text') return `${name}: a text, which may be left out`;
  if (kind === 'score') return `${name}: a number from ${cell(question, 'min')} to ${cell(question, 'max')}`;
  const values = member(question, 'values') ?? [];
  return `${name}: ${(isJsonArray(values) ? values : []).map((value) => oneLine(plainText(value), cellChars)).join(', ')}`;
}

function agreementText(one: JsonObject): string {
  const items = number(one, 'items');
  const share = member(one, 'share');
  if (typeof share !== 'number') return `${cell(one, 'name')}: no item has two answers yet`;
  const fleiss = member(one, 'fleiss') ?? null;
  const kappa = isJsonObject(fleiss) ? kappaText(fleiss) : '';
  return `${cell(one, 'name')}: ${Math.round(share * 100)} % of ${items} ${items === 1 ? 'item' : 'items'}${kappa}`;
}

function kappaText(estimate: JsonObject): string {
  const [point, low, high] = ['point', 'low', 'high'].map((key) => member(estimate, key));
  return typeof point === 'number' && typeof low === 'number' && typeof high === 'number'
    ? `, kappa ${point.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
    : ', kappa is not defined';
}

export function itemLine(item: JsonObject): string {
  const lease = member(item, 'lease') ?? null;
  const held = isJsonObject(lease) ? `  held by ${cell(lease, 'person')} until ${cell(lease, 'until')}` : '';
  const why = member(item, 'why') === null ? '' : `  ${cell(item, 'why')}`;
  const run = `${cell(item, 'trace_id')}/${cell(item, 'span_id')}`;
  return `${cell(item, 'id').padStart(6)}  ${cell(item, 'state').padEnd(7)}  ${number(item, 'answered')} of ${number(item, 'people')}  ${run}${held}${why}`;
}

/** The run, the questions, and the command that answers them. */
export function itemText(answer: JsonObject, item: JsonObject, { program, options }: CommandInput): readonly string[] {
  const [run, lease] = [member(item, 'run') ?? null, member(item, 'lease') ?? null];
  const questions = objectsAt(answer, 'ask');
  const until = isJsonObject(lease) ? cell(lease, 'until') : '';
  const leaseId = isJsonObject(lease) ? cell(lease, 'id') : '';
  const sameService = ['url', 'config', 'person'].flatMap((name) =>
    typeof options[name] === 'string' ? [` --${name} ${options[name]}`] : [],
  );
  const example = questions
    .filter((question) => member(question, 'kind') !== 'text')
    .map((question) => ` --answer ${cell(question, 'name')}=…`)
    .join('');
  return [
    `item ${cell(item, 'id')} of ${cell(item, 'queue')}, yours until ${until} (${number(answer, 'open')} open)`,
    `run     ${cell(item, 'trace_id')}/${cell(item, 'span_id')}`,
    ...(isJsonObject(run) ? runLines(run) : ['        the store has lost the run']),
    '',
    ...questions.map(questionText),
    '',
    `${program} queue answer ${cell(item, 'queue')} --item ${cell(item, 'id')} --lease ${leaseId}${sameService.join('')}${example}`,
  ];
}

function runLines(run: JsonObject): readonly string[] {
  if (member(run, 'content_kept') === false) {
    const gone = member(run, 'content_gone') ?? null;
    return [`        ${isJsonObject(gone) ? cell(gone, 'explanation', textChars) : 'the store has no texts of it'}`];
  }
  const calls = objectsAt(run, 'tool_calls');
  return [
    `agent   ${cell(run, 'agent')}`,
    `input   ${cell(run, 'input', textChars)}`,
    ...calls
      .slice(0, callsShownMax)
      .map((call) => `call    ${cell(call, 'name')} ${valueText(call, 'arguments')} → ${valueText(call, 'result')}`),
    ...(calls.length > callsShownMax ? [`        and ${calls.length - callsShownMax} more calls`] : []),
    `answer  ${valueText(run, 'final_response', textChars)}`,
  ];
}

const valueChars = 300;

function valueText(of: JsonObject, key: string, charsMax = valueChars): string {
  const value: JsonValue = member(of, key) ?? null;
  return value === null ? '(none)' : oneLine(plainText(value), charsMax);
}
