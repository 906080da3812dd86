// Counts over one database.
import { below, sendForJson } from "./http";

export type DatabaseStatistics = {
  CountOfIndexes: number;
  CountOfDocuments: number;
  CountOfTombstones: number;
  CountOfIdentities: number;
  LastDocEtag: number;
  LastDatabaseEtag: number;
  DatabaseChangeVector: string;
  DatabaseId: string;
  LastIndexingTime: string | null;
  NumberOfTransactionMergerQueueOperations: number;
  SizeOnDisk: { SizeInBytes: number };
  Indexes: { Name: string; IsStale: boolean; State: string; Type: string }[];
};

/** GET `/databases/{name}/stats/detailed` */
export function statistics(database: string, signal?: AbortSignal): Promise<DatabaseStatistics> {
  return sendForJson(below(database, "/stats/detailed"), { signal });
}
