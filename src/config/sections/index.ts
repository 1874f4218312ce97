/** The sections of the configuration, in the order of the reference page. */
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { closing } from './closing.ts';
import { dialects } from './dialects.ts';
import { evaluatorsSection } from './evaluators.ts';
import { exportSection } from './export.ts';
import { judges, prices } from './judges.ts';
import { limits } from './limits.ts';
import { listen } from './listen.ts';
import { log } from './log.ts';
import { telemetry } from './telemetry.ts';
import { sessions } from './sessions.ts';
import { planned, shards } from './planned.ts';
import type { Section } from './section.ts';
import { journal, store } from './storage.ts';
import { groups, redact, tools } from './traffic.ts';

export function sections(members: readonly AnyEvaluator[]): readonly Section[] {
  return [
    listen,
    limits,
    closing,
    redact,
    tools,
    evaluatorsSection(members),
    sessions,
    judges,
    exportSection,
    prices,
    groups,
    store,
    journal,
    log,
    telemetry,
    shards,
    dialects,
    ...planned,
  ];
}
