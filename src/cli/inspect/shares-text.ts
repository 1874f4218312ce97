/** Which share of each agent's runs every evaluator could score, as lines. */
import type { Share } from '../../pipeline/reporting/evaluability.ts';
import { moreLines, type Lacking } from './missing-data-text.ts';
import { oneLine } from './one-line.ts';
import type { AgentShares } from './shares.ts';

const agentsMax = 50;
const nameMax = 80;

export function sharesLines(agents: readonly AgentShares[]): readonly string[] {
  const left = agents.length - agentsMax;
  return [
    'Of how many runs could each evaluator score? Runs in which it had nothing to look at are left out.',
    ...agents.slice(0, agentsMax).flatMap((one) => ['', ...agentLines(one)]),
    ...(left > 0 ? ['', `${left} more agents are not shown; --format json has all.`] : []),
  ];
}

function agentLines({ agent, dialect, dialects, runs, shares, evaluability }: AgentShares): readonly string[] {
  const on = new Set(evaluability.filter((one) => one.on).map(({ name }) => name));
  // What is off and only waits for an expectation or options says nothing about the spans.
  const shown = shares
    .filter((share) => on.has(share.name) || share.scored + share.failed > 0 || share.skipped.some(({ need }) => need !== 'expectation'))
    .sort((a, b) => Number(on.has(b.name)) - Number(on.has(a.name)));
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  const shareWidth = Math.max(0, ...shown.map((share) => shareText(share).length));
  return [
    `  ${oneLine(agent, nameMax) || '(no agent name)'}, told in ${dialect || '(no known dialect)'}: ${runs} run${runs === 1 ? '' : 's'}`,
    ...shown.map((share) =>
      `    ${share.name.padEnd(width)}  ${on.has(share.name) ? 'on ' : 'off'}  ${shareText(share).padEnd(shareWidth)}  ${othersText(share)}`.trimEnd(),
    ),
    ...moreLines(evaluability.filter(isTold), { dialects, indent: '    ' }),
  ];
}

function isTold({ on, lack }: Lacking & { readonly on: boolean }): boolean {
  return on || (lack !== 'expectation' && lack !== 'options');
}

/** Runs in which it had nothing to look at count for neither side. */
function shareText({ scored, looked, skipped }: Share): string {
  const idle = skipped.reduce((sum, { need, runs }) => sum + (need === '' ? runs : 0), 0);
  return looked === idle ? '–' : `${scored} of ${looked - idle} (${Math.floor((scored / (looked - idle)) * 100)} %)`;
}

function othersText({ skipped, failed }: Share): string {
  const lacking = skipped.filter(({ need }) => need !== '').map(({ reason, runs }) => `${reason} ${runs}`);
  const idle = skipped.filter(({ need }) => need === '').map(({ reason, runs }) => `${reason || 'skipped'} ${runs}`);
  const parts = [
    lacking.join(', '),
    failed > 0 ? `failed ${failed}` : '',
    idle.length === 0 ? '' : `nothing to look at: ${idle.join(', ')}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}
