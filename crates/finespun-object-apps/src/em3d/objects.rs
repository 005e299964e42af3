//! The vertices as objects, spread over the nodes of the runtime.

use finespun::prelude::*;
use finespun::simulation;
use serde::{Deserialize, Serialize};

use super::graph::{Field, Graph, Problem, Values};

/// Elementary operations of an edge: a multiplication, an addition, and the check and load of the vertex and its value.
const EDGE: u64 = 5;

/// How values get to the vertices that need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each vertex reads the values that it needs.
    Pull,
    /// Each vertex writes its value to every vertex that needs the value.
    Push,
    /// Each vertex sends its value along a chain of all vertices that need the value.
    Forward,
}

/// A vertex of the graph. The value, which others read, comes first: it is then in the cache line that a call looks at anyway.
/// What only some forms use lies apart, so that more vertices fit in a cache.
#[derive(Default, Serialize, Deserialize)]
#[repr(C)]
pub struct Vertex {
    value: f64,
    sign: f64,
    /// The inputs, in the order of summation.
    inputs: Box<[Input]>,
    sent: Box<Sent>,
}

/// For the forms that send values.
#[derive(Default, Serialize, Deserialize)]
struct Sent {
    /// The received value of each input.
    received: Vec<f64>,
    /// The vertices that need the vertex's value, sorted by node, the own node last.
    needs: Vec<Need>,
}

/// A value that a vertex needs.
#[derive(Serialize, Deserialize)]
struct Input {
    from: Ref<Vertex>,
    weight: f64,
}

/// A vertex that needs a value, and the index among its inputs.
type Need = (Ref<Vertex>, u32);

#[object]
impl Vertex {
    fn link(&mut self, vertex: Vertex) {
        *self = vertex;
    }

    /// Returns the value.
    pub fn value(&self) -> f64 {
        self.value
    }

    fn outgoing(&self) -> (f64, Vec<Need>) {
        (self.value, self.sent.needs.clone())
    }

    fn receive(&mut self, input: u32, value: f64) {
        simulation::compute(EDGE);
        self.sent.received.resize(self.inputs.len(), 0.0);
        self.sent.received[input as usize] = value;
    }

    fn change(&mut self) {
        simulation::compute(self.inputs.len() as u64 * 2);
        let received = self.inputs.iter().zip(&self.sent.received);
        let pulled = received.fold(0.0, |sum, (input, value)| sum + input.weight * value);
        self.value += self.sign * pulled;
    }

    /// Reads the inputs and updates the value. Holds the object's exclusive lock throughout, which delays no other
    /// task: during this half step only vertices of the other field are read.
    #[task(stack)]
    async fn pull(&mut self) {
        let Vertex { value, sign, inputs, .. } = self;
        let operations: u64 = inputs.len() as u64 * EDGE;
        let reads = inputs.iter().map(|input| input.from.value());
        let edges = inputs.iter();
        let (pulled, _) = reduce(reads, (0.0, edges), |(sum, mut edges), value| match edges.next() {
            Some(edge) => (sum + edge.weight * value, edges),
            None => unreachable!("one value for each edge"),
        })
        .await;
        simulation::compute(operations);
        *value += *sign * pulled;
    }

    /// Writes the value to all vertices that need it.
    #[task(stack)]
    async fn push(&self) {
        join_all(self.sent.needs.iter().map(|&(vertex, input)| vertex.receive(input, self.value))).await;
    }

    /// Sends the value along the chain of all vertices that need it.
    #[task(stack)]
    async fn forward(this: Ref<Self>) {
        let (value, mut rest): (f64, Vec<Need>) = this.outgoing().await;
        let Some(next) = rest.pop() else { return };
        let (vertex, input): (Ref<Vertex>, u32) = next;
        vertex.pass(input, value, rest).await
    }

    /// Stores a received value and passes it on to the next vertex. The call is in tail position, so the continuation
    /// is forwarded with it: the last vertex answers the first caller, and no vertex in between waits.
    #[task(stack)]
    async fn pass(this: Ref<Self>, input: u32, value: f64, mut rest: Vec<Need>) {
        this.receive(input, value).await;
        let Some(next) = rest.pop() else { return };
        let (vertex, input): (Ref<Vertex>, u32) = next;
        vertex.pass(input, value, rest).await
    }
}

/// Both fields as objects.
#[derive(Clone)]
pub struct Objects {
    electric: Array<Vertex>,
    magnetic: Array<Vertex>,
}

/// Creates the objects of `graph`, with the initial values.
#[task]
pub async fn create(graph: &Graph) -> Objects {
    let electric: Array<Vertex> = empty(graph.problem).await;
    let magnetic: Array<Vertex> = empty(graph.problem).await;
    let vertices = linked(&graph.electric, &graph.magnetic, &electric, &magnetic);
    electric.each_with(vertices, |object, vertex| object.link(vertex)).await;
    let vertices = linked(&graph.magnetic, &graph.electric, &magnetic, &electric);
    magnetic.each_with(vertices, |object, vertex| object.link(vertex)).await;
    Objects { electric, magnetic }
}

#[task]
async fn empty(problem: Problem) -> Array<Vertex> {
    let nodes = nodes();
    Array::create(problem.size, move |index| problem.node(index, nodes), |_, &()| Vertex::default(), ()).await
}

/// Returns the initial states of the objects of a field, `own`.
fn linked(field: &Field, other: &Field, own: &Array<Vertex>, others: &Array<Vertex>) -> Vec<Vertex> {
    let mut needs: Vec<Vec<Need>> = vec![Vec::new(); own.len()];
    for (to, edges) in other.inputs.iter().enumerate() {
        for (input, edge) in edges.iter().enumerate() {
            needs[edge.from].push((others.get(to), input as u32));
        }
    }
    let vertex = |(index, mut needs): (usize, Vec<Need>)| {
        let home = Ref::node(own.get(index));
        needs.sort_by_key(|&(vertex, _)| (Ref::node(vertex) == home, Ref::node(vertex)));
        let input = |edge: &super::Edge| Input { from: others.get(edge.from), weight: edge.weight };
        let inputs = field.inputs[index].iter().map(input).collect();
        let sent = Box::new(Sent { received: Vec::new(), needs });
        Vertex { value: field.start[index], sign: field.sign, inputs, sent }
    };
    needs.into_iter().enumerate().map(vertex).collect()
}

/// Performs `steps` steps.
#[task]
pub async fn step(graph: &Objects, form: Form, steps: u32) {
    for _ in 0..steps {
        change(&graph.electric, &graph.magnetic, form).await;
        change(&graph.magnetic, &graph.electric, form).await;
    }
}

/// Performs one half of a step: updates `field` from `other`.
#[task]
async fn change(field: &Array<Vertex>, other: &Array<Vertex>, form: Form) {
    match form {
        Form::Pull => {
            field.each(|vertex| vertex.pull()).await;
        }
        Form::Push => {
            other.each(|vertex| vertex.push()).await;
            field.each(|vertex| vertex.change()).await;
        }
        Form::Forward => {
            other.each(|vertex| vertex.forward()).await;
            field.each(|vertex| vertex.change()).await;
        }
    }
}

/// Returns the values of both fields.
#[task]
pub async fn values(graph: &Objects) -> Values {
    let (electric, magnetic) = join!(graph.electric.each(|vertex| vertex.value()), graph.magnetic.each(|v| v.value()));
    Values { electric, magnetic }
}

/// Frees the vertices.
#[task]
pub async fn free(graph: &Objects) {
    join!(graph.electric.free(), graph.magnetic.free());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::em3d::{Plain, Variant};
    use finespun::testing::*;

    const FORMS: [Form; 3] = [Form::Pull, Form::Push, Form::Forward];
    const TRANSPORTS: [finespun::runtime::Transport; 3] = [
        finespun::runtime::Transport::Adaptive,
        finespun::runtime::Transport::Push,
        finespun::runtime::Transport::Pull,
    ];

    fn bits(values: &Values) -> Vec<u64> {
        values.electric.iter().chain(&values.magnetic).map(|value| value.to_bits()).collect()
    }

    #[test]
    fn objects_agree_with_plain_structs_to_the_last_bit() {
        let small = |variant, locality| Problem { variant, size: 24, degree: 3, locality, seed: 11 };
        for problem in [small(Variant::Canonical, 0.0), small(Variant::Stable, 0.5)] {
            let graph = Graph::draw(problem);
            let mut plain = Plain::new(&graph);
            plain.step(2);
            let known = bits(&plain.values());
            for (round, nodes) in [1, 2, 4, 8].into_iter().enumerate() {
                for workers in [1, 2, 3] {
                    for n in [0, 1, 2, 3, 5, 7] {
                        let builder = Runtime::builder().workers(workers).nodes(nodes).block_every(n);
                        let transport = TRANSPORTS[(round + workers + n as usize) % 3];
                        let runtime = builder.transport(transport).encode(n % 2 == 1).build().expect("a runtime");
                        for form in FORMS {
                            let objects = runtime.run(create(&graph));
                            assert_eq!(runtime.run(values(&objects)), graph.start());
                            runtime.run(step(&objects, form, 2));
                            let found = bits(&runtime.run(values(&objects)));
                            assert_eq!(found, known, "{problem:?} {form:?} {nodes} {workers} {n} {transport:?}");
                            runtime.run(free(&objects));
                        }
                        assert_eq!(runtime.close(), 0);
                    }
                }
            }
        }
    }

    /// The cost of one half step on four nodes and one worker.
    struct Cost {
        fallbacks: u64,
        resumptions: u64,
        messages: u64,
        handed_on: u64,
    }

    fn cost(graph: &Graph, form: Form) -> Cost {
        let runtime = Runtime::builder().workers(1).nodes(4).quantum(Duration::from_secs(60)).build();
        let runtime = runtime.expect("a runtime");
        let objects = runtime.run(create(graph));
        let before = runtime.stats();
        runtime.run(change(&objects.electric, &objects.magnetic, form));
        let after = runtime.stats();
        Cost {
            fallbacks: after.fallbacks - before.fallbacks,
            resumptions: after.resumptions - before.resumptions,
            messages: after.messages_own - before.messages_own,
            handed_on: after.messages_forwarded - before.messages_forwarded,
        }
    }

    fn drawn(locality: f64) -> Graph {
        Graph::draw(Problem { variant: Variant::Canonical, size: 512, degree: 16, locality, seed: 5 })
    }

    /// Returns, for each vertex, the number of other nodes that need its value.
    fn away(graph: &Graph) -> Vec<u64> {
        let node = |index| graph.problem.node(index, 4);
        let mut away = vec![[false; 4]; graph.problem.size];
        for (to, edges) in graph.electric.inputs.iter().enumerate() {
            edges.iter().for_each(|edge| away[edge.from][node(to)] |= node(to) != node(edge.from));
        }
        away.into_iter().map(|nodes| nodes.into_iter().filter(|&away| away).count() as u64).collect()
    }

    /// A vertex whose neighbours are all on its node stays on the stack. For any other vertex, the method, its loop
    /// over the edges and the lock on the object become frames. Each of these is resumed once, however many requests
    /// are pending, and no other frame is resumed: a remote read or write runs directly from the message.
    #[test]
    fn only_vertices_with_remote_neighbours_become_frames() {
        for locality in [0.0, 0.9, 1.0] {
            let graph = drawn(locality);
            let remote: Vec<u64> = graph.remote(&graph.electric, 4).collect();
            let requests: u64 = remote.iter().sum();
            let vertices = remote.iter().filter(|&&requests| requests > 0).count() as u64;
            assert_eq!(vertices == 512, locality == 0.0);
            assert!(requests >= 12 * vertices || locality > 0.0, "several requests for each vertex");
            let Cost { fallbacks, resumptions, messages, .. } = cost(&graph, Form::Pull);
            // Three more fallbacks: the driver, its call of the array, and the array's loop over the nodes. Each of the
            // three other nodes gets one message.
            assert_eq!((fallbacks, messages), (3 * vertices + 3, requests + 3));
            assert!((3 * vertices..3 * vertices + 20).contains(&resumptions), "{resumptions} for {vertices}");

            let vertices = away(&graph).into_iter().filter(|&nodes| nodes > 0).count() as u64;
            let Cost { fallbacks, resumptions, messages, .. } = cost(&graph, Form::Push);
            // Push makes two array calls.
            assert_eq!((fallbacks, messages), (3 * vertices + 5, requests + 6));
            assert!((3 * vertices..3 * vertices + 20).contains(&resumptions), "{resumptions} for {vertices}");
        }
    }

    /// A forwarded value takes one message to each node that needs it, and no frame: each call is in tail position, so
    /// the caller's continuation is forwarded.
    #[test]
    fn a_forwarded_value_enters_each_node_once() {
        for locality in [0.0, 0.9, 1.0] {
            let graph = drawn(locality);
            let away = away(&graph);
            let nodes: u64 = away.iter().sum();
            let ways = away.iter().filter(|&&nodes| nodes > 0).count() as u64;
            assert_eq!(nodes == 0, locality == 1.0);
            let Cost { fallbacks, resumptions, messages, handed_on } = cost(&graph, Form::Forward);
            assert_eq!((fallbacks, messages, handed_on), (5, nodes + 6, nodes - ways));
            assert!(resumptions < 20, "{resumptions}");
        }
    }
}
