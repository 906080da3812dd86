// The database that was looked at last, so that screens without one still lead back.
import { remembered } from "./remembered";

export const lastDatabase = remembered<string | undefined>("database", undefined);
