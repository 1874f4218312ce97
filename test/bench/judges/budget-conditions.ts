/** The promises of a budget, held against the account of a trial that runs late in the day with more traffic than its budget is for. */
import type { Condition } from '../overload/conditions.ts';
import type { BudgetAccount } from './budget-account.ts';

/** Share of the budget, with reservations for calls with an unknown end: that much of it must be used. */
const usedShareMin = 0.85;

export function conditionsOf({
  pairs,
  wanted,
  decisions,
  undecided,
  decidedTwice,
  decisionRows,
  budgetUsd,
  chargedUsd,
  countedUsd,
  kills,
  underWay,
  asked,
  askedAgain,
  askedAgainAnswered,
  askedAgainDecided,
}: BudgetAccount): readonly Condition[] {
  const sum = [...decisions.values()].reduce((all, count) => all + count, 0);
  const scored = decisions.get('scored') ?? 0;
  const overspentUsd = Math.max(0, chargedUsd - budgetUsd);
  return [
    {
      what: 'decisions, by the API',
      wanted: `${pairs}, one a pair`,
      measured: `${sum}; ${undecided} pairs without, ${decidedTwice} with two`,
      holds: sum === pairs && undecided === 0 && decidedTwice === 0,
    },
    { what: 'decisions, by the tables', wanted: String(pairs), measured: String(decisionRows), holds: decisionRows === pairs },
    {
      what: 'verdicts, each from one question',
      wanted: String(asked - askedAgain),
      measured: String(scored),
      holds: scored === asked - askedAgain,
    },
    {
      what: 'asked about less than without a budget',
      wanted: `< ${wanted}`,
      measured: String(scored),
      holds: scored < wanted && scored > 0,
    },
    {
      what: 'charged by the judge beyond the budget',
      wanted: '0 USD',
      measured: `${overspentUsd.toFixed(6)} USD`,
      holds: overspentUsd === 0,
    },
    {
      what: 'counted of the budget',
      wanted: `≥ ${usedShareMin * 100} %`,
      measured: `${((countedUsd / budgetUsd) * 100).toFixed(1)} %`,
      holds: countedUsd >= budgetUsd * usedShareMin,
    },
    {
      what: 'counted by the store, at least what was charged',
      wanted: `≥ ${chargedUsd.toFixed(6)} USD`,
      measured: `${countedUsd.toFixed(6)} USD`,
      holds: countedUsd >= chargedUsd - 1e-9,
    },
    { what: 'kills, with questions in flight', wanted: '2', measured: `${kills}, with ${underWay}`, holds: kills === 2 },
    { what: 'asked again though the verdict was stored', wanted: '0', measured: String(askedAgainDecided), holds: askedAgainDecided === 0 },
    {
      what: 'asked again though the answer had left the judge',
      wanted: '0',
      measured: String(askedAgainAnswered),
      holds: askedAgainAnswered === 0,
    },
    {
      what: 'asked again, in flight at a kill',
      wanted: `≤ ${underWay}`,
      measured: String(askedAgain - askedAgainAnswered),
      holds: askedAgain - askedAgainAnswered <= underWay,
    },
  ];
}

export function factsOf({ wanted, decisions, asked, budgetUsd, chargedUsd, dearestUsd, countedUsd, balance }: BudgetAccount): string {
  const usd = (value: number): string => value.toFixed(6);
  return [
    '| | |\n|---|---|',
    `| pairs that would be asked about without a budget | ${wanted} |`,
    ...[...decisions].sort(([one], [other]) => (one < other ? -1 : 1)).map(([decision, count]) => `| decisions: ${decision} | ${count} |`),
    `| questions that came to the judge | ${asked} |`,
    `| budget, USD | ${usd(budgetUsd)} |`,
    `| charged by the judge, USD | ${usd(chargedUsd)} |`,
    `| charged, of the budget | ${((chargedUsd / budgetUsd) * 100).toFixed(1)} % |`,
    `| counted by the store, USD | ${usd(countedUsd)} |`,
    `| left of the budget by the judge's bill, in questions | ${((budgetUsd - chargedUsd) / dearestUsd).toFixed(1)} |`,
    `| pairs that the verdicts represent, over those within budget | ${balance.toFixed(3)} |`,
  ].join('\n');
}
