/** Two people have edited one example: what the other one did, beside one's own text, which stays in the fields. */
import { ScrollFrame } from '../../parts/scroll-frame.tsx';
import { TableFrame } from '../../parts/table-frame.tsx';
import { type ExampleBody, memberDifferences, membersOf } from './example-members.ts';

/** The stored example. It has no body when another person has removed it. */
export interface Theirs {
  readonly body: ExampleBody | undefined;
  readonly since: number;
}

export interface EditConflictProps {
  readonly base: ExampleBody;
  readonly theirs: Theirs;
  readonly mine: ExampleBody;
  readonly onOverwrite: () => void;
  /** Absent where there is nothing to take. */
  readonly onTake?: () => void;
}

export function EditConflict({ base, theirs, mine, onOverwrite, onTake }: EditConflictProps) {
  const own = membersOf(mine);
  const changed = theirs.body === undefined ? [] : memberDifferences(base, theirs.body);
  return (
    <section class="box failed conflict" role="alert" aria-label="The example has changed">
      <div class="text stack">
        <p>
          <strong>
            {theirs.body === undefined ? 'Someone has removed this example' : `Someone has changed this example in version ${theirs.since}`}
          </strong>{' '}
          since it was opened here. Nothing is saved, and your text stays in the fields.
        </p>
        {changed.length === 0 ? null : (
          <TableFrame label="Changes by someone else">
            <table class="data">
              <thead>
                <tr>
                  <th scope="col">Member</th>
                  <th scope="col">Before</th>
                  <th scope="col">Theirs</th>
                  <th scope="col">Yours</th>
                </tr>
              </thead>
              <tbody>
                {changed.map(({ member, before, after }) => (
                  <tr key={member}>
                    <th scope="row">{member}</th>
                    <td class="wraps">
                      <TextOrNone text={before} label={`${member} before`} />
                    </td>
                    <td class="wraps">
                      <TextOrNone text={after} label={`Their ${member}`} />
                    </td>
                    <td class="wraps">
                      <TextOrNone text={own.get(member)} label={`Your ${member}`} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TableFrame>
        )}
        <div class="row">
          <button type="button" class="primary" onClick={onOverwrite}>
            {theirs.body === undefined ? 'Save yours, and add it again' : 'Save yours over theirs'}
          </button>
          {onTake === undefined ? null : (
            <button type="button" onClick={onTake}>
              Drop yours, take theirs
            </button>
          )}
        </div>
        <p class="dim small">The history keeps both texts.</p>
      </div>
    </section>
  );
}

export function TextOrNone({ text, label }: { readonly text: string | undefined; readonly label: string }) {
  if (text === undefined) return <span class="dim">absent</span>;
  return (
    <ScrollFrame class="member-text" label={label}>
      {text}
    </ScrollFrame>
  );
}
