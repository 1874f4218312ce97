/** Differences between two bodies of an example, member by member: before and after beside each other. */
import type { MemberDifference } from './example-members.ts';
import { TextOrNone } from './edit-conflict.tsx';

export function MemberChanges({ changes }: { readonly changes: readonly MemberDifference[] }) {
  if (changes.length === 0) return <p class="dim">Nothing but its origin differs.</p>;
  return (
    <dl class="member-changes">
      {changes.map(({ member, before, after }) => (
        <div key={member} class="member-change">
          <dt>{member}</dt>
          <dd class="before">
            <span aria-hidden="true">−</span>
            <span class="visually-hidden">before: </span>
            <TextOrNone text={before} label={`${member} before`} />
          </dd>
          <dd class="after">
            <span aria-hidden="true">+</span>
            <span class="visually-hidden">after: </span>
            <TextOrNone text={after} label={`${member} after`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
