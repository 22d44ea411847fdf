// The best values are read when they are the best.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

type Step = Function<(Give<State>, Ref<Buffer>), (State, Buffer)>;

fn train(step: &Step, mut state: State, gradients: &[Buffer]) -> Result<Vec<f32>> {
    let mut best = Vec::new();
    let mut least = f32::INFINITY;
    for gradient in gradients {
        let (next, loss) = step.call((state, gradient))?;
        state = next;
        let loss = loss.to_scalar()?;
        if loss < least {
            (best, least) = (state.weights.to_host()?, loss);
        }
    }
    Ok(best)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    // Losses 13, 2 and 10: the second state is the best.
    let gradients = [
        crate::pair(&device, [1., 2.])?,
        crate::pair(&device, [1., 2.])?,
        crate::pair(&device, [2., 4.])?,
    ];
    let best = train(
        &crate::subtract_with_loss(&client)?.typed()?,
        state,
        &gradients,
    )?;
    assert_eq!(best, [1., 1.]);
    Ok(())
}
