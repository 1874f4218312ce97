/**
 * Asks several judges about one run at the same time, and one more when their votes are not certain enough. The result is one verdict, or
 * the reason why there is none.
 */
import type { Answer, Asking } from '../../../evaluators/evaluator.ts';
import type { Tokens } from '../../model/budget.ts';
import type { Verdict } from '../../model/verdict.ts';
import {
  agrees,
  countOf,
  isVote,
  reasonToEscalate,
  type Ballot,
  type Count,
  juryVerdict,
  verdictOfEscalation,
  type Escalated,
  type JuryCosts,
} from '../../pipeline/jury/jury-tally.ts';
import { slotsOf, type Panel, type Slot } from '../../pipeline/jury/jury-panel.ts';
import type { AskEnd } from '../../pipeline/jury/judge-driver.ts';
import { voting } from '../../pipeline/jury/jury-vote.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { costOf, usdOf, type TokenPrice } from '../budget/budgets.ts';
import { present } from '../../model/present.ts';

export interface Jury {
  /** Name of the configured evaluator. */
  readonly name: string;
  readonly panel: Panel;
  /** The model name of its verdicts. */
  readonly model: string;
  /** Begins the evaluation, once per vote. */
  readonly questions: () => Asking<Verdict>;
  /** Asks one judge for its vote. Resolves, never rejects. */
  readonly ask: (judge: string, questions: () => Asking<Verdict>) => Promise<AskEnd>;
  /** The same text for judges that are one model at one endpoint, as one's answer is the other's. */
  readonly identity: (judge: string) => string;
  readonly price: (judge: string) => TokenPrice | undefined;
  readonly telemetry: Telemetry;
}

interface Concluded {
  readonly ballots: readonly Ballot[];
  readonly count: Count;
  readonly escalated: Escalated | undefined;
  readonly verdict: Verdict;
}

/** Resolves, never rejects. */
export async function juryEnd(jury: Jury): Promise<AskEnd> {
  const account = accountOf(jury);
  const vote = voter(jury, account.onAnswer);
  const ballots = await Promise.all(slotsOf(jury.panel).map(vote));
  // The evaluation ended without a question.
  if (!account.isBegun() && ballots[0]?.end.kind === 'judged') return ballots[0].end;
  const count = countOf(ballots);
  const ended = (verdict: Verdict, escalated?: Escalated): AskEnd => {
    report(jury, { ballots, count, escalated, verdict });
    return { kind: 'judged', verdict: juryVerdict(verdict, { ballots, count, escalated, costs: account.costs(), model: jury.model }) };
  };
  if (count.kind === 'missing') return count.end.kind === 'judged' ? ended(count.end.verdict) : count.end;
  const escalated = await escalatedOf(jury.panel, count, vote);
  const end = escalated?.ballot.end;
  // The next process continues with the answers that are known.
  if (end?.kind === 'overload' && end.reason === 'stopping') return end;
  return ended((escalated === undefined ? undefined : verdictOfEscalation(escalated)) ?? count.verdict, escalated);
}

type Vote = (slot: Slot) => Promise<Ballot>;

/** Numbers the votes of each identity, independently of the judges' names. */
function voter({ panel, questions, ask, identity }: Jury, heard: (judge: string, answer: Answer) => void): Vote {
  const given = new Map<string, number>();
  const asksConfidence = panel.escalate?.below !== undefined;
  return async (slot) => {
    const same = identity(slot.judge);
    const vote = (given.get(same) ?? 0) + 1;
    given.set(same, vote);
    let lowest: number | undefined;
    const note = (answer: Answer, confidence: number | undefined): void => {
      heard(slot.judge, answer);
      if (confidence !== undefined) lowest = Math.min(lowest ?? 1, confidence);
    };
    const end = await ask(slot.judge, () => voting(questions(), { vote, asksConfidence, heard: note }));
    return { ...slot, end, ...(lowest === undefined ? {} : { confidence: lowest }) };
  };
}

async function escalatedOf(
  { escalate }: Panel,
  count: Extract<Count, { readonly kind: 'counted' }>,
  vote: Vote,
): Promise<Escalated | undefined> {
  const because = escalate === undefined ? undefined : reasonToEscalate(escalate, count);
  if (escalate === undefined || because === undefined) return undefined;
  return present({ because, ballot: await vote({ judge: escalate.to, vote: 1 }), below: escalate.below });
}

/** Sums the usage of all answers. */
function accountOf({ price }: Jury): {
  readonly onAnswer: (judge: string, answer: Answer) => void;
  readonly isBegun: () => boolean;
  readonly costs: () => JuryCosts;
} {
  const used = new Map<string, Tokens>();
  let cached = 0;
  return {
    onAnswer(judge, answer) {
      if (answer.kind === 'answered' && answer.cached === true) cached++;
      const { input, output } = used.get(judge) ?? { input: 0, output: 0 };
      used.set(judge, { input: input + (answer.tokens?.input ?? 0), output: output + (answer.tokens?.output ?? 0) });
    },
    isBegun: () => used.size > 0,
    costs() {
      const all = [...used].map(([judge, tokens]) => ({ tokens, price: price(judge) }));
      const nano = all.flatMap((one) => (one.price === undefined ? [] : [costOf(one.tokens, one.price)]));
      return {
        inputTokens: all.reduce((sum, { tokens }) => sum + tokens.input, 0),
        outputTokens: all.reduce((sum, { tokens }) => sum + tokens.output, 0),
        usd: nano.length < all.length ? undefined : usdOf(nano.reduce((sum, one) => sum + one, 0)),
        cached,
      };
    },
  };
}

function report({ name, telemetry }: Jury, { ballots, count, escalated, verdict }: Concluded): void {
  const labels = { 'gen_ai.evaluation.name': name };
  telemetry.add('tracejury.jury.verdicts', 1, { ...labels, 'tracejury.outcome': wordOf(count, escalated) });
  for (const { judge, end } of ballots) {
    const outcome =
      end.kind !== 'judged' ? 'not_asked' : !isVote(end.verdict) ? 'failed' : agrees(end.verdict, verdict) ? 'agreed' : 'differed';
    telemetry.add('tracejury.jury.votes', 1, { ...labels, 'tracejury.judge': judge, 'tracejury.outcome': outcome });
  }
  if (escalated === undefined) return;
  const outcome =
    escalated.ballot.end.kind !== 'judged' ? 'not_asked' : verdictOfEscalation(escalated) === undefined ? 'failed' : 'decided';
  telemetry.add('tracejury.jury.escalations', 1, {
    ...labels,
    'tracejury.judge': escalated.ballot.judge,
    'tracejury.reason': escalated.because,
    'tracejury.outcome': outcome,
  });
}

function wordOf(count: Count, escalated: Escalated | undefined): string {
  if (count.kind === 'missing') return 'incomplete';
  if (escalated !== undefined && verdictOfEscalation(escalated) !== undefined) return 'escalated';
  if (count.by !== 'votes') return count.by;
  return count.agreeing === count.answered ? 'unanimous' : 'majority';
}
