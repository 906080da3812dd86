import { expect, test } from "vitest";
import { pointsOf } from "./points";

test("places are found on several levels, and what is none is not", () => {
  const rows = [
    { Name: "Vienna", Location: { Latitude: 48.2, Longitude: 16.4 }, "@metadata": { "@id": "cities/1" } },
    { ShipTo: { Location: { lat: 1, lng: 2 } } },
    { Location: { Latitude: 480, Longitude: 16 } },
    { Lat: "48", Lng: "16" },
    { "@metadata": { Latitude: 1, Longitude: 1 } },
  ];
  expect(pointsOf(rows, ["Name"])).toEqual([
    { latitude: 48.2, longitude: 16.4, label: "Vienna", id: "cities/1", values: ["Vienna"] },
    { latitude: 1, longitude: 2, label: "", id: undefined, values: [undefined] },
  ]);
});
