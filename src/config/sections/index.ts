/** The sections of the configuration, in the order of the reference page. */
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { alertsSection } from './alerts.ts';
import { closing, dialects, groups, redact, sessions, tools } from './runs.ts';
import { datasets } from './datasets.ts';
import { evaluatorsSection } from './evaluators.ts';
import { exportSection } from './export.ts';
import { judges, prices } from './judges.ts';
import { limits, log, shards, telemetry } from './operation.ts';
import { listen } from './listen.ts';
import { queues } from './queues.ts';
import type { Section } from './section.ts';
import { journal, store } from './storage.ts';

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
    datasets,
    queues,
    alertsSection,
  ];
}
