// A database without documents: how it gets some.
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createSampleData } from "../../api/databases";
import { Needs } from "../../shell/rights";
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
            <Needs right="ReadWrite">
              <Button
                leftSection={<Icon name="plus" size={14} />}
                onClick={() => void navigate({ to: "/databases/$database/document", params: { database }, search: {} })}
              >
                New document
              </Button>
            </Needs>
            <Needs right="Admin">
              <Button variant="default" onClick={() => void load()} loading={isLoading}>
                Load sample data
              </Button>
            </Needs>
          </>
        }
      >
        Documents are written here or by a client: <Link to="/about">connect one</Link>.
      </Empty>
    </Screen>
  );
}
