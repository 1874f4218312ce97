/** The configured judges and the endpoints of evaluators behind their lane; the command line asks them in the same way. */
import { randomBytes } from 'node:crypto';
import { evaluationContext } from '../../evaluators/context.ts';
import type { JudgeConfig } from '../config/config.ts';
import { httpCalls } from '../judges/http-calls.ts';
import { judges } from '../judges/index.ts';
import { judgeLane, type JudgeLane, type Party } from '../judges/lane.ts';
import type { Run } from '../model/agent-trace.ts';
import { askOf } from '../pipeline/ask.ts';
import type { ToJudge } from '../pipeline/evaluate.ts';
import type { AskEnd } from '../pipeline/pipeline.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { clock, sleep } from './machine.ts';

export interface JudgeBench {
  readonly lane: JudgeLane;
  readonly ask: (run: Run, work: ToJudge, done: (end: AskEnd) => void) => void;
  readonly stop: () => Promise<void>;
}

/** The configured judges and the endpoints of evaluators behind their lane; the command line asks them in the same way. */
export function judgeBench(configs: readonly JudgeConfig[], telemetry: Telemetry): JudgeBench {
  const context = evaluationContext();
  const parts = { telemetry, clock, sleep, random: Math.random };
  const opened = configs.map((config) => ({ config, judge: judges.openai_compatible(config, { ...parts, nonce: () => randomBytes(12).toString('hex') }) }));
  const parties = new Map(opened.map(({ config: { name, concurrency }, judge }): readonly [string, Party] => [name, { name, concurrency, model: judge.model, answer: askOf(judge) }]));
  const endpoints = httpCalls(parts);
  const lane = judgeLane({ telemetry, sleep });

  function partyOf({ configured, judge }: ToJudge): Party | undefined {
    if (configured.kind === 'judge') return parties.get(judge ?? '');
    // No judge is named so: their names have no colon.
    const name = `http:${configured.name}`;
    return { name, concurrency: configured.concurrency, answer: askOf({}, async (request) => await endpoints.call(name, request)) };
  }

  return {
    lane,
    ask(run, work, done) {
      const { configured, expected } = work;
      const party = partyOf(work);
      if (party === undefined) return done({ kind: 'overload', reason: 'no_such_judge' });
      lane.offer({ name: configured.name, party, threshold: configured.threshold, questions: () => configured.judge(run.trace, expected, context, run), done });
    },
    async stop() {
      await Promise.all([endpoints.stop(), ...opened.map(({ judge }) => judge.stop())]);
    },
  };
}
