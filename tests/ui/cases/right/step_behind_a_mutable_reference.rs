// The trainer itself is moved through the step: there is no moment without a state.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

struct Trainer {
    step: Function<(Give<State>, Ref<Buffer>), State>,
    state: State,
}

impl Trainer {
    fn train(self, gradient: &Buffer) -> Result<Trainer> {
        let state = self.step.call((self.state, gradient))?;
        Ok(Trainer { state, ..self })
    }
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let mut trainer = Trainer {
        step: crate::subtract(&client)?.typed()?,
        state: State {
            weights: crate::pair(&device, [3., 5.])?,
        },
    };
    let gradient = crate::pair(&device, [1., 2.])?;
    for _ in 0..2 {
        trainer = trainer.train(&gradient)?;
    }
    assert_eq!(trainer.state.weights.to_host::<f32>()?, [1., 1.]);
    Ok(())
}
