/** A stored run on one line: its end in local time, the outcome, the agent, what failed and why, and its trace. */
import type { RunRow, StoredVerdict } from '../../model/store/store.ts';
import { oneLine } from '../inspect/one-line.ts';

const agentChars = 28;
const reasonChars = 160;

export function runLine(run: RunRow): string {
  const ended = new Date(run.endedAt / 1_000);
  const time = [ended.getHours(), ended.getMinutes(), ended.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
  const day = [ended.getFullYear(), ended.getMonth() + 1, ended.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
  const agent = oneLine(run.agent ?? run.service ?? 'agent without a name', agentChars).padEnd(agentChars);
  return `${day} ${time}  ${mark(run.verdicts)} ${agent}  ${outcome(run)}  ${run.traceId}/${run.spanId}`;
}

function mark(verdicts: readonly StoredVerdict[]): string {
  if (verdicts.some(({ verdict }) => verdict === 'fail')) return '✗';
  if (verdicts.some(({ verdict }) => verdict === 'error')) return '⚠';
  return verdicts.some(({ verdict }) => verdict === 'pass' || verdict === 'raw') ? '✓' : '·';
}

/** What failed comes first; a run of which nothing was scored says so. */
function outcome({ verdicts, status, completeness }: RunRow): string {
  const of = (word: StoredVerdict['verdict']): readonly StoredVerdict[] => verdicts.filter(({ verdict }) => verdict === word);
  const [failed, errors] = [of('fail'), of('error')];
  const scored = [
    ...(of('pass').length === 0 ? [] : [`${of('pass').length} passed`]),
    ...(of('raw').length === 0 ? [] : [`${of('raw').length} measured`]),
  ];
  const state = [...(status === 'error' ? ['run ended in an error'] : []), ...(completeness === 'complete' ? [] : [completeness])];
  const counts =
    failed.length + errors.length > 0
      ? [...failed, ...errors].map(({ name, explanation }) => oneLine(`${name}: ${explanation}`, reasonChars))
      : scored.length === 0
        ? ['nothing scored']
        : scored;
  return [...counts, ...state].join('; ');
}
