"""What a reader writes, for the type checker alone: after each `#:` stands what it must say of the line."""

from mlsysim import Hardware, Models, Scenarios
from mlsysim.engine.scenario_types import TrainingStateFitScenario

scenario = TrainingStateFitScenario(
    workload=Models.Language.GPT2,
    hardware=Hardware.Cloud.H100,
    bytes_per_value="4 byte",
    optimizer_bytes_per_parameter="8 byte",
    activations="40 GB",
    batch_size=32,
)

reveal_type(scenario.optimizer_state)  #: note: Revealed type is "pint.registry.Quantity
reveal_type(scenario.bytes_per_value)  #: note: Revealed type is "pint.registry.Quantity
reveal_type(scenario.fits)  #: note: Revealed type is "bool"
reveal_type(scenario.copies)  #: note: Revealed type is "float"
reveal_type(Models.Language.Llama3_8B)  #: note: Revealed type is "mlsysim.models.workload.Workload"
reveal_type(scenario.workload.name)  #: note: Revealed type is "str"
reveal_type(scenario.variant(batch_size=8))  #: note: Revealed type is "mlsysim.engine.scenario_definitions.training.TrainingStateFitScenario"
reveal_type(Scenarios.Gpt2Fp32AdamOnH100.total)  #: note: Revealed type is "pint.registry.Quantity

scenario.optimiser_state  #: error: "TrainingStateFitScenario" has no attribute "optimiser_state"; maybe "optimizer_state"
scenario.batch_size = 8  #: error: Property "batch_size" defined in "TrainingStateFitScenario" is read-only
Scenarios.Gpt2Fp32AdmaOnH100  #: has no attribute "Gpt2Fp32AdmaOnH100"
TrainingStateFitScenario(workload=Models.Language.GPT2, bytes_per_value=4, optimizer_bytes_per_parameter="8 byte")  #: error: Argument "bytes_per_value" to "TrainingStateFitScenario" has incompatible type "int"
TrainingStateFitScenario(workload=Models.Language.GPT2, bytes_per_value="4 byte", optimiser_bytes_per_parameter="8 byte")  #: error: Unexpected keyword argument "optimiser_bytes_per_parameter"
