/** The sections of the configuration, in the order of the reference page. */
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import type { JsonObject } from '../../model/json.ts';
import { type Draft, object, type ValueOf } from '../field.ts';
import { alerts } from './alerts.ts';
import { datasets } from './datasets.ts';
import { evaluatorEntries } from './evaluators.ts';
import { exporters } from './export.ts';
import { issues } from './issues.ts';
import { judges, prices } from './judges.ts';
import { listen } from './listen.ts';
import { limits, log, telemetry } from './operation.ts';
import { queues } from './queues.ts';
import { closing, dialects, groups, redact, sessions, tools } from './runs.ts';
import { journal, store } from './storage.ts';

export function sections(members: readonly AnyEvaluator[]) {
  return object(
    {},
    {
      listen,
      limits,
      closing,
      redact,
      tools,
      evaluators: evaluatorEntries(members),
      sessions,
      judges,
      export: exporters,
      prices,
      groups,
      store,
      journal,
      log,
      telemetry,
      dialects,
      datasets,
      queues,
      alerts,
      issues,
    },
  );
}

/** A configuration without faults. */
export type Written = ValueOf<ReturnType<typeof sections>>;
/** A configuration that may have faults. */
export type WrittenDraft = Draft<Written>;

/** Evaluators decide about the schema only. */
const everySection = sections([]);

/** The values of a configuration with all defaults. `Written` holds where no check has found a fault. */
export function readSections(value: JsonObject): Written {
  return everySection.read(value) as Written;
}
