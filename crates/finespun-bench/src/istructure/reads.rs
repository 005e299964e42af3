//! Table 2: the reads of the applications on 16 nodes.

use finespun::istructure::cost::Reads;
use finespun_lab::failure::Failure;
use serde_json::json;

use super::{Config, Report, counted, figure};

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let head = ["each node's reads", "local", "paper", "remote", "paper", "hits, %", "paper", "deferred, %", "paper"];
    let table = report.table(20, &head)?;
    for application in config.applications() {
        let (found, paper) = (counted(config, application)?, application.paper);
        let pairs: [fn(&Reads) -> f64; 4] = [
            |reads| reads.local,
            |reads| reads.remote,
            |reads| 100.0 * reads.hit_ratio,
            |reads| 100.0 * reads.deferred_ratio,
        ];
        let mut line = vec![application.name.to_owned()];
        line.extend(pairs.iter().flat_map(|of| [figure(of(&found)), figure(of(&paper))]));
        report.line(&table, &line)?;
        let [local, remote, hits, deferred] = pairs.map(|of| json!({"found": of(&found), "paper": of(&paper)}));
        report.row(json!({
            "section": "reads", "application": application.name, "line": config.line(application, ""),
            "local": local, "remote": remote, "hits_percent": hits, "deferred_percent": deferred,
        }));
    }
    report.say(
        "\nBlocks of 8 elements, room for all. The dense product and the Hopfield network have the paper's sizes. The paper's conjugate\n\
         gradient has a vector of 4912 elements that each node reads twice; NAS class S has 1400, here read 26 times. The paper does not\n\
         tell its sparse matrices.\n",
    )
}
