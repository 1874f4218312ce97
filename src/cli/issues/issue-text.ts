/** Issues as lines of a terminal. */
import { isJsonArray, isJsonObject, type JsonObject, member, plainText, objectsAt } from '../../model/json.ts';
import { oneLine } from '../../model/one-line.ts';
import { differenceHeads, issueDifferenceCells, issueFacts, timeCell, userFacts } from '../../report/issue-markdown.ts';
import { aligned, runsText, section, textTable } from '../../report/text.ts';

const titleChars = 160;
const textChars = 500;
const runsShown = 10;

const cell = (of: JsonObject, key: string, charsMax = titleChars): string => oneLine(plainText(member(of, key) ?? ''), charsMax);

/** The id, the state, the number of runs, when it was seen last, the agent and the title. */
export function issueLine(issue: JsonObject): string {
  const runs = runsText(Number(member(issue, 'runs') ?? 0)).padStart(12);
  const agent = cell(issue, 'agent', 60);
  return `${cell(issue, 'id')}  ${cell(issue, 'state').padEnd(9)}  ${runs}  ${timeCell(member(issue, 'last_seen'))}  ${agent === '' ? '' : `${agent}: `}${cell(issue, 'title')}`;
}

/** One issue with its figures by version, its days and its newest runs. */
export function issueText(answer: JsonObject): readonly string[] {
  const value = member(answer, 'issue') ?? null;
  const issue = isJsonObject(value) ? value : {};
  const days = member(issue, 'days') ?? null;
  return [
    cell(issue, 'title', textChars),
    '',
    ...aligned(
      [...issueFacts(issue), ...userFacts(answer), ...(isJsonArray(days) ? [['days', days.map(String).join(' ')] as const] : [])].map(
        ([name, text]) => [name, oneLine(text, textChars)],
      ),
      'left',
    ).map((line) => line.trimEnd()),
    ...section(
      'Runs by version:',
      objectsAt(answer, 'versions'),
      (one) => `${cell(one, 'version') || '(none)'}  ${plainText(member(one, 'runs') ?? 0)}`,
    ),
    ...textTable(differenceHeads, issueDifferenceCells(answer), (cells) => cells.map((text) => oneLine(text, titleChars)), {
      most: runsShown,
    }),
    ...section(
      'Newest runs:',
      objectsAt(answer, 'runs'),
      (run) => [
        `${timeCell(member(run, 'started_at'))}  ${cell(run, 'trace_id')}/${cell(run, 'span_id')}  ${cell(run, 'version')}`.trimEnd(),
        ...['input', 'explanation'].flatMap((key) =>
          member(run, key) === null ? [] : [`  ${key.padEnd(11)}  ${cell(run, key, textChars)}`],
        ),
      ],
      runsShown,
    ),
  ];
}
