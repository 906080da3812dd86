// A database without documents: how it gets some.
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createSampleData } from "../../api/databases";
import { Screen } from "../../shell/Screen";
import { Empty } from "../../shell/states";
import { failed } from "../../shell/toasts";
import { Icon } from "../../theme/icons";

export function NoDocuments({ database }: { database: string }) {
  const requests = useQueryClient();
  const navigate = useNavigate();
  const [isLoading, setLoading] = useState(false);
  const load = async () => {
    setLoading(true);
    try {
      await createSampleData(database);
      await requests.invalidateQueries();
    } catch (error) {
      failed("The sample was not loaded", error);
    } finally {
      setLoading(false);
    }
  };
  return (
    <Screen title="Documents" about={database}>
      <Empty
        icon="documents"
        title="Nothing here yet"
        action={
          <>
            <Button
              leftSection={<Icon name="plus" size={14} />}
              onClick={() => void navigate({ to: "/databases/$database/document", params: { database }, search: {} })}
            >
              New document
            </Button>
            <Button variant="default" onClick={() => void load()} loading={isLoading}>
              Load sample data
            </Button>
          </>
        }
      >
        Write the first document, load the Northwind sample, or <Link to="/about">connect a client</Link>.
      </Empty>
    </Screen>
  );
}
