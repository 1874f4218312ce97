/** Names a dataset in the API and in an address. */
export interface DatasetKey {
  readonly name: string;
  readonly tenant: string;
}
