/** Setup file of all suites: chooses the examples of a property. They are the same on every run, unless `TRACEJURY_SEED` names another seed or `random`. */
import fc from 'fast-check';

const asked = process.env['TRACEJURY_SEED'] ?? '20261125';
if (asked !== 'random' && !Number.isInteger(Number(asked))) throw new Error(`TRACEJURY_SEED is a whole number or "random", not "${asked}"`);
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked) });
