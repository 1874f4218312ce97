/** Compiled schemas of configurations, shared by all tests of a process: they hold no state of a test. */
import { schemaValidators } from '../../src/config/checks/check.ts';

export const validators = schemaValidators();
