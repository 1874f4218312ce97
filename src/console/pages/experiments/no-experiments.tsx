/** Empty state of the pages of experiments. */
import { EmptyState } from '../../parts/empty-state.tsx';

export function NoExperiments({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No experiment matches">
      <p>Clear a filter.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No experiments yet">
      <p>An experiment runs one version of an agent over a dataset. Two experiments are compared example by example.</p>
      <pre>tracejury experiment run --dataset failures --name before -- node agent.mjs</pre>
      <p>
        Or name an experiment and an example in the resource of the agent's spans: <code>tracejury.experiment.id</code> and{' '}
        <code>tracejury.example.id</code>.
      </p>
    </EmptyState>
  );
}
