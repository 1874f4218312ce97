import { duration, integer, list, object, settings, text } from '../field.ts';

/** Each look at an issue reads the start of this many runs. */
const newRunsMax = 1_000;

export const issues = settings('Classes of failed verdicts. See docs/guides/issues.md.', {
  new_after: object(
    { default: {} },
    {
      runs: integer(3, 1, newRunsMax, 'runs', 'Runs that an issue needs until the service reports it as new.'),
      within: duration('1h', '1s', '30d', 'Time between the starts of the first and the last of these runs, at most.'),
    },
    'When the service reports a new issue. By default, one odd run wakes no one.',
  ),
  to: list(
    { maxItems: 20, default: [] },
    text({ minLength: 1, maxLength: 100 }),
    'Names of entries of `export` with `to: webhook`, which send a message for a new, a regressed and a resolved issue.',
  ),
});
